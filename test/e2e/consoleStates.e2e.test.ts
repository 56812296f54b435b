// @module-tag long
import { describe, it } from "@effect/vitest"
import { SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import { fitPatch } from "../../services/workspace/src/work/look/fitPatch.ts"
import type { FileDiff } from "../../services/workspace/src/work/look/readDiff.ts"
import { answer, raise, stepOptions } from "../harness/askingBroker.ts"
import {
  act,
  heading,
  holdAnswers,
  lacksBrowser,
  openPage,
  pictured,
  presses,
  sees,
  startBrowser
} from "../harness/browser.ts"
import { gateWith, openGate } from "../harness/gateConsole.ts"

const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
  [360, 1440].map((width) => ({ colorScheme, width, name: `${colorScheme} ${width}` }))
)

const diff = (path: string, lines: string) => ({
  path,
  text: `diff --git a/${path} b/${path}\n${lines}`,
  isWhole: true
})
const none = { kinds: [], added: 0, removed: 0 }

const patch: ReadonlyArray<FileDiff> = [
  {
    ...{ ...none, added: 1, removed: 1 },
    ...diff("src/a.ts", "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n-const a = 1\n+const a = 2\n const b = 3\n")
  },
  {
    ...none,
    kinds: ["binary"],
    ...diff("logo.png", "index 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n")
  },
  {
    ...{ ...none, kinds: ["renamed"], from: "src/old\nname.ts" },
    ...diff("src/\u2028name.ts", "similarity index 100%\n")
  },
  {
    ...{ ...none, kinds: ["new"], added: 900 },
    ...diff(
      "big.txt",
      `new file mode 100644\n--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1,900 @@\n${"+line\n".repeat(900)}`
    )
  }
]

const changes = () => {
  const files = fitPatch(patch, 2_000)
  return Effect.succeed({
    commits: ["1234567 Write it"],
    untracked: ["notes.txt"],
    files,
    more: { commits: 0, untracked: 12, files: 3, added: 40, removed: 5 },
    patch: { name: "changes", text: "", omitted: 2_000 }
  })
}

/** Everything that a question can show at once. */
const reviewed = {
  origin: "reviewer",
  reason: "The parser takes a comment for a heading.",
  options: stepOptions.slice(1).map((one) => (one.name === "fix" ? { ...one, agent: true } : one)),
  items: [
    {
      id: "i1",
      title: "Which of the two?",
      action: "human_required",
      reason: "The plan names neither.",
      priority: "P0"
    },
    { id: "i2", title: `averyverylongword${"x".repeat(300)}`, action: "auto_fix", reason: "", priority: "P2" }
  ],
  evidence: {
    planPath: "PLAN.md",
    planTitle: "A plan",
    phaseTitle: "The parser",
    lastLines: "# A heading of an agent\n\n### And one of another level\n\n> quoted\n\n```\ncode\n```",
    sessionId: SessionId.make("review-s2"),
    authorSessionId: SessionId.make("review-s1"),
    continueUnavailable: "the reviewer's session has ended",
    commit: "1234567890abcdef",
    diffStat: " src/a.ts | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
    dirty: ["left.txt"],
    missingFiles: ["docs/guide.md"],
    cost: 1.5,
    gateResults: [
      {
        command: "npm test",
        exitCode: 1,
        durationMs: 9,
        timedOut: false,
        logRef: "gate.log",
        head: "",
        tail: "1 failed"
      }
    ]
  }
} as const

describe.skipIf(lacksBrowser)("every state of the web console", () => {
  it.live.each(looks)(
    "has nothing that axe finds serious, and fits the screen: $name",
    ({ colorScheme, name, width }) =>
      Effect.gen(function* () {
        const { address, link } = yield* openGate()
        const { page } = yield* openPage(yield* startBrowser, { colorScheme, viewport: { width, height: 800 } })
        const check = (state: string) => pictured(page, `state ${state} ${name}`)
        const goTo = (path: string) => act(() => page.goto(`${address}${path}`))
        yield* holdAnswers(page)
        yield* act(() => page.route("**/api/runs", (route) => route.fulfill({ json: { ok: true, data: [] } })))
        yield* act(() => page.goto(link))
        yield* sees(page, "Nothing needs you")
        yield* check("no questions")
        yield* goTo("/runs")
        yield* sees(page, "No runs yet")
        yield* check("no runs")
        yield* goTo("/nowhere")
        yield* sees(page, "There is no such page")
        yield* check("no such page")
        yield* goTo("/questions/absent-e1")
        yield* act(() => page.getByRole("alert").waitFor())
        yield* check("no such question")

        yield* raise("review", reviewed)
        yield* raise("words", {
          reason: "Which colour?",
          options: [{ name: "other", label: "in your own words", keys: [], guidance: "required" }]
        })
        yield* goTo("/questions/review-e1")
        yield* act(() => heading(page).waitFor())
        yield* act(() => page.getByRole("tab", { name: "Changes" }).click())
        yield* act(() => page.locator("diffs-container").first().waitFor())
        yield* sees(page, "too long: only the beginning is shown")
        yield* sees(page, "7 changed files")
        yield* sees(page, "src/\\u{2028}name.ts")
        yield* sees(page, "from src/old\\u{000a}name.ts")
        yield* sees(page, "and 3 more files")
        yield* sees(page, "and 12 more files")
        yield* act(() => page.getByText("Another agent, with").click())
        yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Do this.\nThen that."))
        yield* act(() => page.locator("form pre").waitFor())
        yield* act(() => page.keyboard.press("Escape"))
        yield* act(() => page.keyboard.press("c"))
        yield* sees(page, /continue-session is not offered here/)
        yield* check("answer")
        yield* act(() => page.getByRole("tab", { name: "Transcript" }).click())
        yield* act(() => page.getByRole("combobox", { name: "Whose transcript" }).waitFor())
        yield* act(() => page.getByText("The conversation cannot be shown").waitFor())
        yield* check("no transcript")
        yield* presses(page, /^fix in new session/i)
        yield* act(() => page.getByRole("button", { name: /^Undo/ }).waitFor())
        yield* check("undo")
        yield* act(() =>
          page.route("**/answer", (route) =>
            route.fulfill({
              status: 409,
              json: { ok: false, error: { code: "closed", message: "Somebody was first.", hint: "Look at it." } }
            })
          )
        )
        yield* presses(page, /^Send now/)
        yield* sees(page, /was refused\. Somebody was first/)
        yield* check("not taken")
        yield* presses(page, /^Show the question/)

        yield* goTo("/questions/words-e1")
        yield* presses(page, /in your own words/i)
        yield* sees(page, /needs your words/)
        yield* check("words missing")
        yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Blue"))
        yield* answer(yield* raise("gone", { reason: "Which size?" }), "fix")
        yield* goTo("/questions/gone-e1")
        yield* sees(page, /^Answered: ada chose/)
        yield* check("answered")
        yield* act(() => page.keyboard.press("?"))
        yield* act(() => page.getByRole("dialog", { name: "Keys" }).waitFor())
        yield* check("keys")
        yield* act(() => page.keyboard.press("Escape"))

        yield* act(() => page.keyboard.press("N"))
        yield* act(() => page.getByRole("combobox", { name: "Order" }).selectOption("By run"))
        yield* act(() => page.getByRole("heading", { name: "A plan · review, 1 question" }).waitFor())
        yield* check("by run")
        yield* act(() => page.getByRole("searchbox").fill("no such word"))
        yield* sees(page, "No question has this word in it.")
        yield* check("filtered")
      }).pipe(Effect.scoped, Effect.provide(gateWith({ changes })))
  )
})
