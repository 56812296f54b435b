import { assert, describe, it } from "@effect/vitest"
import { type EscalationOption, SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { answer, raise, stepOptions } from "../harness/askingBroker.ts"
import { act, heading, holdAnswers, lacksBrowser, openPage, presses, sees, startBrowser } from "../harness/browser.ts"
import { gateWith, hears, openGate } from "../harness/gateConsole.ts"

const choice = (name: string, guidance: EscalationOption["guidance"]): EscalationOption => ({
  name,
  label: name,
  keys: [],
  guidance
})

const press = (page: Page, ...keys: ReadonlyArray<string>) =>
  act(async () => {
    for (const key of keys) await page.keyboard.press(key)
  })

const heardWith = (page: Page) => act(() => page.evaluate("document.activeElement.textContent"))
const title = (page: Page, expected: string) => act(() => page.waitForFunction(`document.title === '${expected}'`))
const shownHelp = (page: Page) => act(() => page.getByRole("dialog", { name: "Keys" }).locator("dt").allTextContents())

/** The answer that is about to be sent. */
const willSend = (page: Page, label: string) => sees(page, `“${label}” will be sent.`)

describe.skipIf(lacksBrowser)("the keys of the web console", () => {
  it.live("are those of the terminal's gate, each choice has one, and what is not offered says why", () =>
    Effect.gen(function* () {
      const { address, link } = yield* openGate()
      yield* raise("verify", {
        origin: "checkpoint",
        reason: "Does it look right?",
        options: [choice("pass", "optional"), choice("fail", "required")],
        evidence: { checkpoint: { task: "1.1", type: "human-verify", description: "Look at it" } }
      })
      yield* raise("step", {
        reason: "Which colour?",
        options: stepOptions.slice(1),
        evidence: { continueUnavailable: "the session has ended", sessionId: SessionId.make("step-s1") }
      })
      const { page, problems } = yield* openPage(yield* startBrowser)
      yield* holdAnswers(page)
      const show = (id: string) => act(() => page.goto(`${address}/questions/${id}`))
      yield* act(() => page.goto(link))
      yield* act(() => heading(page).waitFor())

      yield* show("step-e1")
      yield* act(() => heading(page).waitFor())
      yield* sees(page, "Continuing is not offered: the session has ended")
      yield* press(page, "c")
      yield* hears(page, "continue-session is not offered here: the session has ended")
      yield* press(page, "z")
      yield* hears(page, "'z' is not a key here; ? lists them.")
      yield* press(page, "a")
      yield* hears(page, /reprise attach step-s1/)
      for (const [key, tab] of [
        ["3", "Gate log"],
        ["4", "Transcript"],
        ["d", "Changes"],
        ["l", "Gate log"],
        ["t", "Transcript"],
        ["2", "Changes"]
      ] as const) {
        yield* press(page, key)
        yield* act(() => page.getByRole("tab", { name: tab, selected: true }).waitFor())
      }
      yield* press(page, "1")
      assert.match(`${yield* heardWith(page)}`, /^Question step-e1/)
      yield* press(page, "Enter")
      yield* willSend(page, "fix in new session")
      yield* act(() => page.waitForURL(`${address}/questions/verify-e1`))
      yield* press(page, "u")
      yield* act(() => page.waitForURL(`${address}/questions/step-e1`))

      yield* press(page, "s")
      yield* act(() => page.waitForURL(`${address}/questions/verify-e1`))
      yield* press(page, "Enter")
      yield* hears(page, "No choice is recommended here: press the key of the one you want.")
      yield* press(page, "f")
      yield* sees(page, /“fail” needs your words/)
      yield* act(() => page.keyboard.type("p is typed here, and passes nothing"))
      yield* press(page, "Escape", "f")
      yield* willSend(page, "fail")
      yield* press(page, "u", "p")
      yield* willSend(page, "pass")
      yield* press(page, "u", "ArrowLeft")
      yield* act(() => page.waitForURL(`${address}/questions/step-e1`))

      yield* press(page, "/")
      yield* act(() => page.keyboard.type("look right"))
      yield* act(() => page.getByRole("heading", { name: "1 of 2 open" }).waitFor())
      yield* press(page, "Enter")
      yield* act(() => page.waitForURL(`${address}/questions/verify-e1`))
      yield* press(page, "/", "Escape")
      yield* act(() => page.getByRole("heading", { name: "2 open" }).waitFor())

      yield* press(page, "?")
      assert.includeMembers(yield* shownHelp(page), ["the key of a choice", "Enter", "y, n", "s, ← →", "/", "a", "u"])
      yield* press(page, "p", "Escape")
      assert.strictEqual(yield* act(() => page.getByText("will be sent").count()), 0, "a dialog keeps the keys")
      yield* press(page, "N", "R")
      yield* act(() => page.waitForURL(`${address}/runs`))
      yield* press(page, "?")
      assert.notIncludeMembers(yield* shownHelp(page), ["Enter", "a", "S"])
      yield* press(page, "?")
      assert.strictEqual(yield* act(() => page.getByRole("dialog").count()), 0)
      assert.deepStrictEqual(
        problems.filter((problem) => !/50\d|40\d/.test(problem)),
        []
      )
    }).pipe(Effect.scoped, Effect.provide(gateWith()))
  )

  it.live("lead the focus and the words that are read aloud from question to question", () =>
    Effect.gen(function* () {
      const { address, link } = yield* openGate()
      const { page } = yield* openPage(yield* startBrowser)
      yield* act(() => page.goto(link))
      yield* sees(page, "Nothing needs you")
      yield* title(page, "Needs you · Reprise")
      yield* raise("one", { reason: "# Which colour?" })
      yield* hears(page, "A new question. The author needs you: # Which colour?")
      yield* title(page, "(1) Question: # Which colour? · Reprise")
      yield* act(() => heading(page).waitFor())
      const two = yield* raise("two", { reason: "Which size?" })
      yield* hears(page, "A new question. The author needs you: Which size?")
      const outline = yield* act(() =>
        page.evaluate(
          "[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => one.tagName + ' ' + one.textContent.slice(0, 15))"
        )
      )
      assert.deepStrictEqual(outline, ["H1 Needs you", "H2 2 open", "H2 Question one-e1", "H3 Evidence"])

      yield* presses(page, /continue session/i)
      yield* hears(page, "“continue session” will be sent. Press u to take it back.")
      yield* act(() => page.waitForURL(`${address}/questions/two-e1`))
      yield* act(() => page.waitForFunction("document.activeElement.textContent.startsWith('Question two-e1')"))
      yield* presses(page, /^Undo/)
      yield* hears(page, "“continue session” was taken back.")
      yield* act(() => page.waitForFunction("document.activeElement.textContent.startsWith('Question one-e1')"))
      yield* press(page, "c")
      yield* presses(page, /^Send now/)
      yield* hears(page, "Answered: “continue session”.")
      yield* title(page, "(1) Question: Which size? · Reprise")

      yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Large"))
      yield* answer(two, "fix")
      yield* hears(page, /^Answered: ada chose “fix” through cli/)
      yield* sees(page, /You had typed: Large/)
      yield* act(() => page.getByRole("link", { name: "Runs" }).click())
      yield* title(page, "Runs · Reprise")
      yield* act(() => page.goto(`${address}/nowhere`))
      yield* title(page, "No such page · Reprise")
    }).pipe(Effect.scoped, Effect.provide(gateWith()))
  )
})
