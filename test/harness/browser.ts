/** A real browser for tests of the web console: Debian's Chromium, or the program in `REPRISE_TEST_BROWSER`. */
import { accessSync, constants, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import axe from "axe-core"
import { Effect } from "effect"
import { type BrowserContextOptions, chromium, type Page } from "playwright-core"
import type { Command } from "./Command.ts"
import type { World } from "./World.ts"

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const candidates = [process.env["REPRISE_TEST_BROWSER"], "/usr/bin/chromium", "/usr/bin/chromium-browser"]
const program = candidates.find((path) => path !== undefined && path !== "none" && isProgram(path))

/** Whether tests with a browser are left out, which is said. */
export const lacksBrowser = program === undefined || process.env["REPRISE_TEST_BROWSER"] === "none"
if (lacksBrowser) process.stdout.write("browser tests: skipped, no chromium\n")

/** One browser until the scope closes. */
export const startBrowser = Effect.acquireRelease(
  Effect.promise(() =>
    chromium.launch({
      ...(program === undefined ? {} : { executablePath: program }),
      // Root may not use the browser's own sandbox; the pages are the console's own.
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : []
    })
  ),
  (browser) => Effect.promise(() => browser.close())
)
export type Browser = Effect.Success<typeof startBrowser>

/** What a page asked the network for: its addresses, and the referrers that it sent. */
export interface Traffic {
  readonly urls: Array<string>
  readonly referrers: Array<string>
}

/** A page in a browser profile of its own: cookies are not shared. */
export const openPage = Effect.fnUntraced(function* (browser: Browser, options: BrowserContextOptions = {}) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })),
    (made) => Effect.promise(() => made.close())
  )
  // A limit names what hangs. Nothing may come near it, however busy the machine is.
  context.setDefaultTimeout(5 * 60_000)
  const page = yield* Effect.promise(() => context.newPage())
  const traffic: Traffic = { urls: [], referrers: [] }
  const problems: Array<string> = []
  page.on("request", (request) => {
    traffic.urls.push(request.url())
    const { referer } = request.headers()
    if (referer !== undefined) traffic.referrers.push(referer)
  })
  page.on("pageerror", (error) => problems.push(error.message))
  return { page, traffic, problems }
})

/** The page sends an answer when it is told to, however slow the machine is: the time to take it back does not end. */
export const holdAnswers = (page: Page): Effect.Effect<unknown> =>
  act(() =>
    page.addInitScript(`{
      const set = window.setTimeout
      window.setTimeout = (run, ms, ...rest) => ms === 5000 ? 0 : set(run, ms, ...rest)
    }`)
  )

/** Does something in a page. */
export const act = <A>(does: () => Promise<A>): Effect.Effect<A> => Effect.promise(does)

export const sees = (page: Page, text: string | RegExp) =>
  act(async () => {
    try {
      await page.getByText(text).filter({ visible: true }).last().waitFor()
    } catch (cause) {
      throw new Error(`The page does not show ${text}, but: ${await page.locator("body").ariaSnapshot()}`, { cause })
    }
  })
export const presses = (page: Page, name: RegExp) => act(() => page.getByRole("button", { name }).click())

/** The heading of the question that is shown. */
export const heading = (page: Page) => page.getByRole("heading", { name: /^Question / })

/** Runs a plan until it asks, and returns the question. Only one run can have the repository itself. */
export const asks = Effect.fnUntraced(function* (world: World, file = "PLAN.md") {
  const before = new Set((yield* world.questions).map(({ escalationId }) => escalationId))
  const run = yield* world.reprise("run", file, "--no-input", ...(file === "PLAN.md" ? [] : ["--worktree"]))
  assert.strictEqual(run.code, 4, run.stderr)
  const question = (yield* world.questions).find(({ escalationId }) => !before.has(escalationId))
  return question ?? assert.fail("no question is open")
})

/**
 * `reprise up --web` on a free port: the address that it prints, the token that opens it, and the port that it listens
 * on, which is another one than the address has where a proxy stands in front.
 */
export const startConsole = Effect.fnUntraced(function* (world: World, ...more: ReadonlyArray<string>) {
  const up: Command = yield* world.start("up", "--web", "--port", "0", ...more)
  const [, port] = yield* up.waitFor(/Web console on 127\.0\.0\.1:(\d+): /)
  const [, address = ""] = yield* up.waitFor(/Web console .*: (\S+)\/ /)
  const token = readFileSync(join(world.root, ".reprise", "console.token"), "utf8").trim()
  return { up, address, token, link: `${address}/#token=${token}`, port: Number(port) }
})

interface AxeWindow {
  readonly axe: {
    readonly run: () => Promise<{
      readonly violations: ReadonlyArray<{
        readonly id: string
        readonly impact?: string
        readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
      }>
    }>
  }
}

/** Serious and critical findings of axe about a page as it is now. */
const seriousFindings = (page: Page): Effect.Effect<ReadonlyArray<string>> =>
  act(async () => {
    await page.evaluate(axe.source)
    const violations = await page.evaluate(async () => {
      const result = await (globalThis as unknown as AxeWindow).axe.run()
      return result.violations
    })
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`))
  })

/** Fails if axe finds something serious on a page, or if it is wider than its screen; keeps its picture if wanted. */
export const pictured = Effect.fnUntraced(function* (page: Page, where: string) {
  assert.deepStrictEqual(yield* seriousFindings(page), [], where)
  const overflow = yield* act(() =>
    page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
  )
  assert.strictEqual(overflow, 0, `${where} is wider than the screen`)
  const pictures = process.env["REPRISE_PICTURES"]
  if (pictures === undefined) return
  yield* act(() => page.screenshot({ path: join(pictures, `${where.replaceAll(" ", "-")}.png`), fullPage: true }))
})
