/** Frames of a terminal as one animated SVG, which shows its last frame to those who want no motion. Pure. */
import type { Piece, Row } from "./screens.ts"

export interface Frame {
  readonly rows: ReadonlyArray<Row>
  /** For how long it is shown. */
  readonly ms: number
}

const cell = { width: 8, height: 18 }
const margin = 14
const palette = [
  ...["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9"],
  ...["#8b949e", "#ffa198", "#a5f3a5", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc"]
]

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const pieceText = ({ bold, colour, column, columns, dim, text }: Piece): string => {
  const fill = colour === undefined ? "" : ` fill="${palette[colour] ?? palette[7]}"`
  const look = `${fill}${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.65"' : ""}`
  // Whatever the font, each piece begins and ends in its columns.
  return `<text x="${column * cell.width}" textLength="${columns * cell.width}"${look}>${escaped(text)}</text>`
}

const rowText = (row: Row): string => row.map(pieceText).join("")

/** The moments at which the film moves on, in percent of its length. */
const moments = (frames: ReadonlyArray<Frame>, width: number): string => {
  const length = frames.reduce((sum, { ms }) => sum + ms, 0)
  let at = 0
  return frames
    .map(({ ms }, index) => {
      const moment = `${((at / length) * 100).toFixed(2)}%{transform:translateX(-${index * width}px)}`
      at += ms
      return moment
    })
    .join("")
}

export const film = (frames: ReadonlyArray<Frame>, columns: number, rows: number, title: string): string => {
  const width = columns * cell.width + 2 * margin
  const height = rows * cell.height + 2 * margin
  const ids = new Map<string, number>()
  const idOf = (row: Row): number => {
    const text = rowText(row)
    const known = ids.get(text)
    if (known !== undefined) return known
    ids.set(text, ids.size)
    return ids.size - 1
  }
  const drawn = frames.map(({ rows }, index) => {
    const uses = rows.flatMap((row, n) =>
      row.length === 0 ? [] : [`<use href="#r${idOf(row)}" y="${(n + 1) * cell.height}"/>`]
    )
    return `<g transform="translate(${index * width + margin} ${margin - 5})">${uses.join("")}</g>`
  })
  const seconds = frames.reduce((sum, { ms }) => sum + ms, 0) / 1_000
  const last = (frames.length - 1) * width
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>
text{white-space:pre}
.film{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;animation:film ${seconds.toFixed(1)}s steps(1,end) infinite}
@keyframes film{${moments(frames, width)}}
@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(-${last}px)}}
</style>
<defs>${[...ids].map(([text, id]) => `<g id="r${id}">${text}</g>`).join("\n")}</defs>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g class="film">
${drawn.join("\n")}
</g>
</svg>
`
}
