import { assert, describe, it } from "@effect/vitest"
import { NotPossible } from "@reprise/gate/console"
import { type ConsoleFork, SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { raise, shownQuestion } from "../harness/askingBroker.ts"
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
import { emptyRepository, gateWith, hears, openGate, token } from "../harness/gateConsole.ts"

const press = (page: Page, ...keys: ReadonlyArray<string>) =>
  act(async () => {
    for (const key of keys) await page.keyboard.press(key)
  })
const willSend = (page: Page, label: string) => sees(page, `“${label}” will be sent.`)
const sentNothing = (page: Page) =>
  Effect.map(
    act(() => page.getByText("will be sent").count()),
    (count) => assert.strictEqual(count, 0)
  )
const isAsked = (page: Page, text: string) => act(() => page.getByRole("group", { name: text }).waitFor())

const wanted: Array<ConsoleFork> = []
const repository = {
  ...emptyRepository,
  fork: (_: unknown, fork: ConsoleFork) => {
    wanted.push(fork)
    return fork.guidance === "nowhere"
      ? Effect.fail(new NotPossible({ code: "nothing-to-fork", message: "No turn has ended.", hint: "Wait." }))
      : Effect.succeed({ sessionId: SessionId.make("s-fork"), branch: "reprise/s-fork", turn: 3 })
  }
}

describe.skipIf(lacksBrowser)("what one key or tap must not do in the web console", () => {
  it.live("a choice that ends the work, or lets it pass, is sent only after a y", () =>
    Effect.gen(function* () {
      const { address } = yield* openGate()
      const { page, problems } = yield* openPage(yield* startBrowser, { viewport: { width: 360, height: 800 } })
      yield* holdAnswers(page)
      const id = yield* raise("final", { reason: "Which colour?" })
      yield* act(() => page.goto(`${address}/questions/${id}#token=${token}`))
      yield* act(() => heading(page).waitFor())
      yield* press(page, "q")
      yield* isAsked(page, "Abort (stop execution): are you sure?")
      yield* pictured(page, "final choice 360")
      yield* press(page, "Enter", "f", "c")
      yield* sentNothing(page)
      yield* press(page, "n")
      yield* hears(page, "Not answered; the question stays open.")
      yield* sentNothing(page)
      yield* presses(page, /^Override and move on/i)
      yield* isAsked(page, "Override and move on (force approve this phase): are you sure?")
      yield* press(page, "Escape")
      yield* act(() => page.getByRole("button", { name: /^Abort/i }).click())
      yield* presses(page, /^Yes/)
      yield* willSend(page, "abort")
      yield* presses(page, /^Undo/)
      yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Not like this"))
      yield* press(page, "Escape", "q", "y")
      yield* willSend(page, "abort")
      yield* presses(page, /^Send now/)
      yield* hears(page, "Answered: “abort”.")
      const { choice, guidance } = yield* shownQuestion(id)
      assert.deepStrictEqual([choice, guidance], ["abort", "Not like this"])
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.scoped, Effect.provide(gateWith()))
  )

  it.live("trying again from a question forks its session once it is meant, and leaves the question open", () =>
    Effect.gen(function* () {
      const { address } = yield* openGate()
      const { page } = yield* openPage(yield* startBrowser)
      const id = yield* raise("again", { reason: "Which colour?" })
      yield* act(() => page.goto(`${address}/questions/${id}#token=${token}`))
      yield* act(() => heading(page).waitFor())
      yield* press(page, "F")
      yield* isAsked(page, "Try again from here?")
      yield* press(page, "n")
      yield* hears(page, "Nothing was started.")
      yield* act(() => page.getByLabel(/Guidance for the agent/).fill("nowhere"))
      yield* press(page, "Escape", "F", "y")
      yield* sees(page, "No turn has ended. Wait.")
      yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Use a queue"))
      yield* presses(page, /^Try again from here/)
      yield* pictured(page, "fork")
      yield* presses(page, /^Yes/)
      yield* act(() => page.getByRole("link", { name: "Session s-fork" }).waitFor())
      yield* sees(page, /tries again after turn 3, in a worktree, on the branch reprise\/s-fork/)
      assert.deepStrictEqual(
        wanted.map(({ guidance }) => guidance),
        ["nowhere", "Use a queue"]
      )
      assert.strictEqual((yield* shownQuestion(id)).state, "open")
      assert.strictEqual(yield* act(() => page.getByLabel(/Guidance for the agent/).inputValue()), "")
      yield* press(page, "?")
      yield* sees(page, /another session tries again from here/)
    }).pipe(Effect.scoped, Effect.provide(gateWith({ repository })))
  )
})
