// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  act,
  asks,
  heading,
  lacksBrowser,
  openPage,
  pictured,
  presses,
  sees,
  startBrowser,
  startConsole
} from "../harness/browser.ts"
import { commits, humanRequired, needsHuman, on, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const report = { role: "author", kind: "report" } as const

describe.skipIf(lacksBrowser)("the web console with what agents may say", () => {
  it.live("shows hostile text as text, and axe finds nothing serious on any page in either theme", () =>
    Effect.gen(function* () {
      const hostile = [
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>",
        "[click](javascript:window.hacked=3) ![i](http://evil.invalid/x.png)",
        "\u202egnp.exe \u001b[31mred\u001b[0m \u200bzero",
        "- [ ] a task\n- [x] another",
        `averyverylongword${"x".repeat(400)}`,
        "| a | b |\n| - | - |\n| 1 | 2 |"
      ].join("\n\n")
      const world = yield* makeWorld({
        openCode: "shared",
        plan: `# ${"A plan with <b>a title</b> that is long enough to need several lines on a telephone"}\n\n## Phase 1: One\n\n- [ ] Write it\n`,
        config:
          'permissions = "all"\n[gates]\nquality = ["seq 1 20000; grep -q never phase-1.txt"]\n[limits]\nmaxQualityRetries = 0\n',
        files: { "OTHER.md": plan("Other"), "THIRD.md": "# Another plan\n\n## Phase 1: One\n\n- [ ] Write it\n" },
        script: script(
          once({ ...report, firstUser: "OTHER.md" }, needsHuman(hostile)),
          on({ role: "reviewer", kind: "report" }, humanRequired),
          once({ role: "author", kind: "work" }, commits("phase-1.txt", "<script>window.hacked = 4</script>"))
        )
      })
      const { address, link } = yield* startConsole(world)
      const gates = yield* asks(world)
      const words = yield* asks(world, "OTHER.md")
      const browser = yield* startBrowser
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [360, 1440]) {
          const { page, problems, traffic } = yield* openPage(browser, {
            colorScheme,
            viewport: { width, height: 800 }
          })
          const check = (name: string) => pictured(page, `${name} ${colorScheme} ${width}`)
          yield* act(() => page.goto(address))
          yield* sees(page, "Sign in to Reprise")
          yield* check("sign-in")
          yield* act(() => page.goto(link))
          yield* act(() => page.reload())
          yield* act(() => page.getByRole("heading", { name: "2 open" }).waitFor())
          yield* check("needs-you")
          yield* act(() => page.goto(`${address}/questions/${words.escalationId}`))
          yield* act(() => page.getByRole("article").getByText("<script>window.hacked = 1</script>").waitFor())
          yield* sees(page, /u\{202e\}gnp\.exe/)
          yield* act(() => page.locator("diffs-container").first().waitFor())
          yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Do <i>this</i>"))
          yield* act(() => page.locator("form pre").waitFor())
          yield* check("question")
          yield* act(() => page.getByRole("tab", { name: /Transcript/ }).click())
          yield* sees(page, "Told to the agent")
          yield* check("question-transcript")
          yield* act(() => page.goto(`${address}/questions/${gates.escalationId}`))
          yield* act(() => page.getByRole("region", { name: /^Log / }).waitFor())
          yield* sees(page, "20000")
          const rows = yield* act(() => page.getByRole("region", { name: /^Log / }).locator("div > div").count())
          assert.isBelow(rows, 200, "only the lines that are seen are in the page")
          yield* check("question-gates")
          yield* act(() => page.goto(`${address}/runs`))
          yield* act(() => page.getByRole("heading", { name: "Runs" }).waitFor())
          yield* check("runs")
          yield* act(() => page.goto(`${address}/start`))
          yield* act(() => page.getByLabel("Another plan").check())
          yield* act(() => page.getByRole("button", { name: "Start the run" }).waitFor())
          yield* check("start")
          yield* act(() => page.goto(`${address}/settings`))
          yield* act(() => page.getByText("gates.quality", { exact: true }).waitFor())
          yield* check("settings")
          yield* act(() => page.goto(`${address}/runs/${gates.runId}`))
          yield* act(() => page.getByRole("heading", { name: "Author works" }).first().waitFor())
          yield* act(() => page.getByText("By phase", { exact: true }).click())
          yield* act(() => page.locator(".recharts-bar-rectangle path").first().waitFor())
          yield* check("run")
          yield* act(() => page.goto(`${address}/sessions/${words.sessionId ?? words.evidence.sessionId}`))
          yield* sees(page, "Told to the agent")
          yield* check("session")
          assert.isUndefined(yield* act(() => page.evaluate("window.hacked")))
          for (const url of traffic.urls) assert.isTrue(url.startsWith(`${address}/`), url)
          assert.deepStrictEqual(problems, [])
        }
      }
    })
  )

  it.live("stays usable with a diff of five megabytes, a line of one, and more words than anybody reads", () =>
    Effect.gen(function* () {
      const many = `Which colour? ${"lorem ipsum ".repeat(15_000)}`
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(
          once({ role: "author", kind: "work" }, [
            {
              bash: "seq 1 700000 > big.txt && printf '%01000000d' 0 > line.txt && echo small > small.txt && git add -A && git commit -q -m 'Write much' && git rev-parse HEAD"
            },
            { text: "It is written." }
          ]),
          once(report, needsHuman(many))
        )
      })
      const { link, up } = yield* startConsole(world)
      yield* asks(world)
      const { page, problems } = yield* openPage(yield* startBrowser)
      yield* act(() => page.goto(link))
      yield* act(() => heading(page).waitFor())
      yield* sees(page, /more characters of the changes are left out/)
      yield* act(() => page.getByRole("heading", { name: /^3 changed files, \+700002 −0/ }).waitFor())
      const cut = page.locator("summary").filter({ hasText: "only the beginning is shown" })
      assert.match(`${yield* act(() => cut.textContent())}`, /^big\.txt\+700000/)
      yield* act(() => page.getByText("big.txt").first().click())
      const changes = page.getByRole("region", { name: "Changes of big.txt" }).locator("div > div")
      yield* act(() => changes.first().waitFor())
      assert.isBelow(yield* act(() => changes.count()), 200, "only the lines that are seen are in the page")
      yield* presses(page, /^Show all \d+ characters/)
      // The model's context has no room for a megabyte.
      const rows = page.getByRole("region", { name: "All words" }).locator("div > div")
      yield* act(() => rows.first().waitFor())
      assert.isBelow(yield* act(() => rows.count()), 200)
      // Nobody takes it back, so it is sent by itself.
      yield* act(() => page.keyboard.press("f"))
      yield* up.waitFor(/Run completed/)
      assert.deepStrictEqual(problems, [])
    })
  )
})
