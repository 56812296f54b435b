/**
 * Texts of hostile sizes in the web console: how long each takes until it is on the page, the longest time for which the
 * page obeyed nothing, and how many elements it has then, beside a page with a short question. The gate and the browser
 * are real; the texts come from here.
 */
import type { ConsoleSources } from "@reprise/gate/console"
import type { EscalationView } from "@reprise/protocol"
import { SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { shownWork } from "../../services/workspace/src/work/look/look.ts"
import type { FileDiff } from "../../services/workspace/src/work/look/readDiff.ts"
import { raise } from "../harness/askingBroker.ts"
import { act, openPage, startBrowser } from "../harness/browser.ts"
import { gateWith, openGate } from "../harness/gateConsole.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const longest = 2 * 1024 * 1024
const session = SessionId.make("size-s1")

const patch = (path: string, lines: number): FileDiff => ({
  ...{ path, kinds: ["new"], added: lines, removed: 0, isWhole: true },
  text: [
    `diff --git a/${path} b/${path}`,
    "new file mode 100644",
    "--- /dev/null",
    `+++ b/${path}`,
    `@@ -0,0 +1,${lines} @@`,
    ...Array.from({ length: lines }, (_, n) => `+const line${n} = "the quick brown fox"`),
    ""
  ].join("\n")
})

/** Five megabytes in files of every size, and a thousand small ones. */
const bigDiff = [
  patch("src/big.ts", 95_000),
  ...Array.from({ length: 60 }, (_, n) => patch(`src/middle${n}.ts`, 300)),
  ...Array.from({ length: 1_000 }, (_, n) => patch(`src/small${n}.ts`, 5))
]

const log = Array.from({ length: 100_000 }, (_, n) => `${n} ok: a line of a quality gate`).join("\n")

const said = (n: number, text: string) => ({
  id: `m${n}`,
  role: n % 5 === 0 ? "user" : "assistant",
  content: [
    { type: "text", text },
    { type: "tool_use", tool_use: { id: `t${n}`, name: "bash", input: { command: `echo ${n}` } } },
    { type: "tool_result", tool_result: { toolUseId: `t${n}`, output: "x".repeat(500), isError: false } }
  ]
})
const conversations = {
  short: [said(1, "Hello.")],
  words: [said(1, "lorem ipsum **dolor** sit amet ".repeat(33_000))],
  long: Array.from({ length: 5_000 }, (_, n) => said(n, `Message ${n}: I look at \`file${n}.ts\` and\n\n- one\n- two`))
}

const sources: Partial<ConsoleSources["Service"]> = {
  changes: ({ runId }: EscalationView) =>
    Effect.succeed(shownWork({ commits: [], untracked: [], files: runId === "diff" ? bigDiff : [] })),
  gateLogs: ({ runId }) =>
    Effect.succeed(runId === "log" ? [{ name: "gate.log", text: log.slice(-longest), omitted: 0 }] : [])
}

interface LongTasks {
  readonly longest: number
  readonly sum: number
}

/** The times for which the page did something without a pause, of 50 ms and more, as browsers count them. */
const watchTasks = `{
  window.tasks = []
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask", buffered: true })
}`

const tasksOf = (page: Page) =>
  page.evaluate(
    "({ longest: Math.max(0, ...window.tasks), sum: window.tasks.reduce((a, b) => a + b, 0) })"
  ) as Promise<LongTasks>

/** Two pictures after the last change: what was begun is drawn. */
const drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"

const measured = Effect.fnUntraced(function* (page: Page, name: string, does: () => Promise<unknown>) {
  const { ms, nodes, tasks } = yield* act(async () => {
    await page.evaluate("window.tasks = []")
    const began = performance.now()
    await does()
    await page.evaluate(drawn)
    const ms = performance.now() - began
    const nodes = await page.evaluate("document.querySelectorAll('*').length")
    return { ms, nodes, tasks: await tasksOf(page) }
  })
  say(
    `${name}: ${ms.toFixed(0)} ms, longest task ${tasks.longest.toFixed(0)} ms, all long tasks ${tasks.sum.toFixed(0)} ms, ${nodes} elements`
  )
})

export const consoleSizes = (): Promise<void> =>
  Effect.gen(function* () {
    const { address, link } = yield* openGate()
    const browser = yield* startBrowser
    const evidence = { sessionId: session, gateResults: [] }
    for (const run of ["short", "diff", "long", "words"]) yield* raise(run, { reason: "Which colour?", evidence })
    yield* raise("log", {
      reason: "The tests fail.",
      evidence: {
        ...evidence,
        gateResults: [
          {
            command: "npm test",
            exitCode: 1,
            timedOut: false,
            head: "",
            tail: "failed",
            logRef: "gate.log",
            durationMs: 5
          }
        ]
      }
    })
    yield* raise("reason", { reason: `Which colour? ${"lorem ipsum ".repeat(85_000)}`, evidence })
    let messages: ReadonlyArray<unknown> = conversations.short
    const { page } = yield* openPage(browser)
    yield* act(() => page.addInitScript(watchTasks))
    yield* act(() =>
      page.route("**/api/sessions/*/conversation", (route) =>
        route.fulfill({ json: { ok: true, data: { messages, savedAt: "2026-01-01T00:00:00.000Z" } } })
      )
    )
    yield* act(() => page.goto(link))
    yield* act(() => page.getByRole("article").waitFor())
    const question = (run: string) => page.goto(`${address}/questions/${run}-e1`)
    const article = page.getByRole("article")
    const transcript = () => page.getByRole("tab", { name: /Transcript/ }).click()

    yield* measured(page, "a short question", async () => {
      await question("short")
      await article.getByText("Nothing changed so far.").waitFor()
    })
    yield* measured(page, "a reason of 1 MB", async () => {
      await question("reason")
      await article.getByRole("button", { name: /^Show all/ }).waitFor()
    })
    yield* measured(page, "  all of its words", async () => {
      await article.getByRole("button", { name: /^Show all/ }).click()
      await page.getByRole("region", { name: "All words" }).waitFor()
    })
    yield* measured(page, `a diff of ${(bigDiff.length / 1e6).toFixed(1)} MB`, async () => {
      await question("diff")
      await page.locator("diffs-container").first().waitFor()
    })
    yield* measured(page, "  its largest file", async () => {
      await page.getByText("src/big.ts").first().click()
      await page.getByRole("region", { name: "Changes of src/big.ts" }).waitFor()
    })
    yield* measured(page, "  a file of 300 lines", async () => {
      const file = page.locator("details").filter({ hasText: "src/middle40.ts" })
      await file.locator("summary").click()
      await file.locator("diffs-container").waitFor()
    })
    yield* measured(page, "a log of 100 000 lines", async () => {
      await question("log")
      await page.getByText("99999 ok").waitFor()
    })
    messages = conversations.words
    yield* measured(page, "a message of 1 MB", async () => {
      await question("words")
      await transcript()
      await article.getByRole("button", { name: /^Show all/ }).waitFor()
    })
    yield* measured(page, "  all of its words", async () => {
      await article.getByRole("button", { name: /^Show all/ }).click()
      await page.getByRole("region", { name: "All words" }).waitFor()
    })
    messages = conversations.long
    yield* measured(page, "a conversation of 5 000 messages", async () => {
      await question("long")
      await transcript()
      await page.getByText("Message 4999").waitFor()
    })
    yield* measured(page, "  all of its messages", async () => {
      await page.getByRole("button", { name: /^Show all 5000 messages/ }).click()
      await page.getByText("Message 1:").waitFor()
    })
    yield* measured(page, "  scrolled to its end", async () => {
      for (let n = 0; n < 20; n++) await page.mouse.wheel(0, 40_000)
    })
  }).pipe(Effect.scoped, Effect.provide(gateWith(sources)), Effect.runPromise)
