/**
 * `npm run record -- console`: takes the pictures of the web console for its documentation. They show the demo as its
 * question waits in a terminal, the answer that is given in the browser instead, and the run that goes on. Everything is
 * real but the model.
 */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "playwright-core"

const launcher = new URL("../../cli/bin/reprise.js", import.meta.url).pathname
const pictures = new URL("../../docs/pictures/", import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), "reprise-demo-"))

/** A program whose output can be awaited. */
const start = (program: string, args: ReadonlyArray<string>, directory: string) => {
  const child = spawn(program, [...args], { cwd: directory, env: { ...process.env, TERM: "dumb" } })
  const ended = new Promise((resolve) => child.once("close", resolve))
  let output = ""
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
      for (const watch of watchers) watch()
    })
  }
  const waitFor = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const watch = () => {
        const match = pattern.exec(output)
        if (match === null) return
        watchers.delete(watch)
        resolve(match)
      }
      watchers.add(watch)
      child.once("close", () => reject(new Error(`ended without ${pattern}:\n${output}`)))
      watch()
    })
  const stop = () => {
    child.kill("SIGTERM")
    return ended
  }
  return { stop, ended, waitFor }
}

const command = `'${process.execPath}' '${launcher}' demo --directory '${folder}/demo'`
const demo = start("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], folder)
await demo.waitFor(/answer> $/)
const repository = join(folder, "demo", "greeter")
const up = start(process.execPath, [launcher, "up", "--web", "--port", "0"], repository)
const [, address = ""] = await up.waitFor(/Web console .*: (\S+\/) /)
const token = readFileSync(join(repository, ".reprise/console.token"), "utf8").trim()

const program = process.env["REPRISE_TEST_BROWSER"] ?? "/usr/bin/chromium"
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []
const browser = await chromium.launch({ executablePath: program, args })
mkdirSync(pictures, { recursive: true })

const open = async (width: number, height: number, colorScheme: "light" | "dark"): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, hasTouch: width < 600 })
  // A busy machine takes its time.
  context.setDefaultTimeout(5 * 60_000)
  const page = await context.newPage()
  await page.goto(`${address}#token=${token}`)
  return page
}
const take = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`) })
const guidance = "Esperanto, please. Keep the English greeting as it is."

const phone = await open(360, 740, "dark")
await phone.getByRole("link", { name: /needs you/ }).click()
await phone.getByRole("button", { name: /continue session/i }).waitFor()
await take(phone, "console-question-phone")

const desk = await open(1280, 860, "light")
await desk.getByRole("tab", { name: /Transcript/ }).click()
await desk.getByText("Told to the agent").first().waitFor()
await desk.getByLabel(/Guidance for the agent/).fill(guidance)
await desk.getByText("The user has provided the following additional guidance:").waitFor()
await desk.evaluate("scrollTo(0, 0)")
await take(desk, "console-question")
await desk.getByRole("button", { name: /continue session/i }).click()
await desk.getByRole("button", { name: /^Send now/ }).click()
await demo.waitFor(/Run completed/)
await desk.getByRole("link", { name: "Runs" }).click()
await desk.getByRole("link", { name: /phases/ }).click()
await desk.getByText("Completed").first().waitFor()
await desk.getByText("Waited for a human").first().waitFor()
// The demo has ended, and what serves the repository now takes over from it.
await desk.getByText("Live", { exact: true }).waitFor()
await desk.evaluate("document.querySelector('[aria-label=\"Phase 2\"]').scrollIntoView(); scrollBy(0, -80)")
await take(desk, "console-run")

await browser.close()
await up.stop()
// The demo ends by itself, and stops what it has started.
await demo.ended
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
process.stdout.write(`${pictures}console-*.png\n`)
