/**
 * `npm run record`: plays the demo at a terminal, as a newcomer would, and writes the film of it for the README. Everything
 * in it is real but the model, whose lines the demo brings; pauses are shortened.
 */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { type Frame, film } from "./film.ts"
import { Screen } from "./screens.ts"

const size = { columns: 100, rows: 28 }
const launcher = new URL("../../cli/bin/reprise.js", import.meta.url).pathname
const target = new URL("../../docs/pictures/demo.svg", import.meta.url).pathname

/** What is typed, once the screen shows this. */
const typed = [
  [/Which one should the greeter speak\?[\s\S]*Enter recommended/, "c"],
  [/Enter send/, "Esperanto, please"],
  [/The agent will be told: Esperanto, please/, "\r"]
] as const
const ends = /Run completed/

/** What changes sooner belongs to the same frame. */
const shortestMs = 150
const longestMs = 1_400
/** To read what is asked, or what was typed. */
const readMs = 2_500
const lastMs = 6_000

const folder = mkdtempSync(join(tmpdir(), "reprise-demo-"))
const shown = "$ npx reprise demo\r\n"
const command = `stty cols ${size.columns} rows ${size.rows}; exec '${process.execPath}' '${launcher}' demo --directory '${folder}/demo'`
const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
  env: { ...process.env, TERM: "xterm-256color", FORCE_COLOR: "1" },
  stdio: ["pipe", "pipe", "inherit"]
})

const screen = new Screen(size)
await screen.write(shown)
const left = [...typed]
const frames = [{ rows: screen.rows, atMs: Date.now(), isRead: false }]
const answerIfAsked = () => {
  const [next] = left
  const last = frames.at(-1)
  if (next === undefined || last === undefined || !next[0].test(screen.text)) return
  left.shift()
  last.isRead = true
  child.stdin.write(next[1])
}

// The demo ends by itself, and stops what it has started; the film ends with the run.
let isOver = false
for await (const output of child.stdout.setEncoding("utf8")) {
  // The film is of anybody.
  if (isOver) continue
  await screen.write(String(output).replaceAll(`by ${userInfo().username} via`, "by you via"))
  const atMs = Date.now()
  const last = frames.at(-1)
  const isOne = last !== undefined && frames.length > 1 && !last.isRead && atMs - last.atMs < shortestMs
  if (isOne) last.rows = screen.rows
  else frames.push({ rows: screen.rows, atMs, isRead: false })
  answerIfAsked()
  isOver = ends.test(screen.text)
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
if (left.length > 0) throw new Error(`The demo never came to ${left[0]?.[0]}.`)

const timed = frames.map(({ atMs, isRead, rows }, index): Frame => {
  const next = frames[index + 1]
  if (next === undefined) return { rows, ms: lastMs }
  return { rows, ms: isRead ? readMs : Math.min(longestMs, next.atMs - atMs) }
})
mkdirSync(join(target, ".."), { recursive: true })
writeFileSync(target, film(timed, size.columns, size.rows, "reprise demo, at a terminal"))
process.stdout.write(
  `${target}: ${timed.length} frames, ${Math.round(timed.reduce((sum, { ms }) => sum + ms, 0) / 1_000)} s\n`
)
