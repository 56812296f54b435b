import { assert, describe, it } from "@effect/vitest"
import { film } from "./film.ts"
import { Screen } from "./screens.ts"

const size = { columns: 20, rows: 3 }
const shown = async (output: string) => {
  const screen = new Screen(size)
  await screen.write(output)
  return screen.rows
}

describe("the film of a terminal", () => {
  it("keeps colours and columns, and draws a row that stays only once", async () => {
    const first = await shown("a \u001b[32mgreen\u001b[0m b")
    const second = await shown("a \u001b[32mgreen\u001b[0m b\r\n<script>&amp;")
    const drawn = film(
      [
        { rows: first, ms: 100 },
        { rows: second, ms: 300 }
      ],
      size.columns,
      size.rows,
      "a film"
    )
    assert.include(drawn, '<text x="16" textLength="40" fill="#7ee787">green</text>')
    assert.strictEqual(drawn.match(/>green</g)?.length, 1)
    assert.include(drawn, "&lt;script&gt;&amp;amp;")
    assert.include(drawn, "0.00%{transform:translateX(-0px)}25.00%{transform:translateX(-188px)}")
  })

  it("shows a wide letter in two columns", async () => {
    const [row] = await shown("漢x")
    assert.deepStrictEqual(
      row?.map(({ columns, text }) => [text, columns]),
      [["漢x", 3]]
    )
  })
})
