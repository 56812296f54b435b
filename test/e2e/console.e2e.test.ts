// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import {
  act,
  asks,
  heading,
  holdAnswers,
  lacksBrowser,
  openPage,
  pictured,
  presses,
  sees,
  startBrowser,
  startConsole
} from "../harness/browser.ts"
import { once, oneQuestion, plan, script, twoQuestions } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const promptsOf = (world: World) => Effect.map(world.model.calls, (calls) => calls.map(({ lastUser }) => lastUser))

describe.skipIf(lacksBrowser)("the web console", () => {
  it.live("shows a question without a reload, and the agent's next prompt holds the guidance verbatim", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const { address, link, token, up } = yield* startConsole(world)
      const { page, problems, traffic } = yield* openPage(yield* startBrowser)
      yield* holdAnswers(page)
      yield* act(() => page.goto(link))
      yield* sees(page, "Nothing needs you")
      assert.strictEqual(page.url(), `${address}/`, "the token is gone from the address")
      const run = yield* world.start("run", "PLAN.md", "--no-input")
      yield* act(() => heading(page).waitFor())
      yield* sees(page, "Which colour?")
      const guidance = 'Blue, like the {sky}.\n\n  <b>Not</b> "green" — 100 % ✓'
      yield* act(() => page.getByLabel(/Guidance for the agent/).fill(guidance))
      const told = `The user has provided the following additional guidance:\n${guidance}`
      const preview = page.locator("form pre")
      yield* waitUntil(act(() => preview.textContent().then((text) => (text === told ? text : undefined))))
      yield* presses(page, /continue session/i)
      yield* presses(page, /^Send now/)
      yield* up.waitFor(/Run completed/)
      yield* run.ended
      assert.isTrue((yield* promptsOf(world)).some((text) => text.includes(told)))
      yield* sees(page, "Nothing needs you")

      yield* act(() => page.getByRole("link", { name: "Runs" }).click())
      yield* act(() => page.getByRole("link", { name: /A plan/ }).click())
      yield* act(() => page.getByRole("heading", { name: "Author works" }).first().waitFor())
      yield* sees(page, "Waited for a human")
      yield* act(() => page.getByRole("link", { name: /-s1$/ }).first().click())
      yield* sees(page, "phase-1.txt is written and committed.")

      for (const url of [...traffic.urls, ...traffic.referrers]) assert.notInclude(url, token)
      for (const url of traffic.urls) assert.isTrue(url.startsWith(`${address}/`), url)
      assert.notInclude(`${up.stdout}${up.stderr}`, token)
      assert.notInclude(readFileSync(join(world.root, ".reprise/logs/reprise.log"), "utf8"), token)
      assert.deepStrictEqual(problems, [])
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("tells every browser who answered when a terminal was first, and keeps what was typed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(twoQuestions)
      const { link, up } = yield* startConsole(world)
      const browser = yield* startBrowser
      const first = (yield* openPage(browser)).page
      const second = (yield* openPage(browser)).page
      const colour = yield* asks(world)
      for (const page of [first, second]) {
        yield* holdAnswers(page)
        yield* act(() => page.goto(link))
        yield* sees(page, "Which colour?")
      }
      yield* act(() => first.getByLabel(/Guidance for the agent/).fill("Green"))
      yield* presses(second, /fix in new session/i)
      const answered = yield* world.reprise("gate", "answer", colour.escalationId, "c")
      assert.strictEqual(answered.code, 0, answered.stderr)
      yield* sees(first, /Answered: .* chose “continue-session” through cli/)
      yield* sees(first, /You had typed: Green/)
      yield* presses(second, /^Send now/)
      yield* sees(second, /was refused\. .* answered 'continue-session' through cli/)
      yield* up.waitFor(/Run completed/)

      const size = yield* asks(world, "OTHER.md")
      yield* act(() => first.goto(`${link.split("#")[0]}questions/${size.escalationId}`))
      yield* sees(first, "Which size?")
      yield* world.reprise("abort", size.runId)
      yield* sees(first, "This question is closed: the run has ended")
      assert.strictEqual(yield* act(() => first.getByRole("button", { name: /abort/i }).count()), 0)
    })
  )

  it.live.skipIf(lacksClaude)(
    "lets another agent take over, and gives back what was typed when that is not set up",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(oneQuestion)
        const { link, up } = yield* startConsole(world)
        yield* asks(world)
        const { page, problems } = yield* openPage(yield* startBrowser)
        yield* holdAnswers(page)
        yield* act(() => page.goto(link))
        yield* sees(page, "Which colour?")
        const typed = (label: string | RegExp) => act(() => page.getByLabel(label).inputValue())
        const fixBy = Effect.fnUntraced(function* (runtime: string, model: string) {
          yield* act(() => page.getByLabel("Runtime").fill(runtime))
          yield* act(() => page.getByLabel("Model").fill(model))
          yield* presses(page, /fix in new session/i)
          yield* presses(page, /^Send now/)
        })
        yield* act(() => page.getByLabel(/Guidance for the agent/).fill("Blue"))
        yield* act(() => page.getByText(/Another agent, with/).click())
        yield* fixBy("opencode", "scripted/nonsense")
        yield* sees(page, /was refused\. OpenCode has no model scripted\/nonsense/)
        yield* presses(page, /^Show the question/)
        assert.strictEqual(yield* typed(/Guidance for the agent/), "Blue")
        assert.deepStrictEqual([yield* typed("Runtime"), yield* typed("Model")], ["opencode", "scripted/nonsense"])
        yield* fixBy("claude", "")
        yield* up.waitFor(/Run completed/)
        const authors = (yield* world.sessions).filter(({ role }) => role === "author")
        assert.deepStrictEqual(authors.map(({ runtime }) => runtime).sort(), ["claude", "opencode"])
        assert.isTrue((yield* promptsOf(world)).some((text) => text.includes("Blue")))
        assert.deepStrictEqual(
          problems.filter((problem) => !problem.includes("503")),
          []
        )
      })
  )

  it.live("is used by keyboard alone, from the token to an answer that was taken back first", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const { address, token, up } = yield* startConsole(world)
      const question = yield* asks(world)
      const { page } = yield* openPage(yield* startBrowser)
      yield* holdAnswers(page)
      const press = (...keys: ReadonlyArray<string>) =>
        act(async () => {
          for (const key of keys) await page.keyboard.press(key)
        })
      const type = (text: string) => act(() => page.keyboard.type(text))
      yield* act(() => page.goto(`${address}/questions/${question.escalationId}`))
      yield* sees(page, "Sign in to Reprise")
      assert.notInclude(yield* act(() => page.content()), "Which colour?")
      yield* press("Tab")
      yield* type("not-the-token")
      yield* press("Enter")
      yield* sees(page, /That is not the token/)
      yield* act(() => page.getByLabel("Token").focus())
      yield* press("ControlOrMeta+a")
      yield* type(token)
      yield* press("Enter")
      yield* act(() => heading(page).waitFor())
      assert.include(page.url(), question.escalationId, "a link to a question leads there")
      yield* press("e")
      yield* type("c is not an answer here")
      yield* press("Escape", "c")
      yield* sees(page, /will be sent/)
      yield* press("u")
      yield* act(() => page.getByLabel(/Guidance for the agent/).waitFor())
      const kept = yield* act(() => page.getByLabel(/Guidance for the agent/).inputValue())
      assert.strictEqual(kept, "c is not an answer here")
      yield* press("c")
      // Whoever closes the page has answered.
      yield* act(() => page.close())
      yield* up.waitFor(/Run completed/)
      assert.isTrue((yield* promptsOf(world)).some((text) => text.includes("c is not an answer here")))
    })
  )

  it.live("shows what an agent says and does while it works, and pauses, resumes and aborts its run", () =>
    Effect.gen(function* () {
      const author = { role: "author", kind: "work" } as const
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(
          once(author, [
            {
              text: "First I look at the tests, and then I fix the parser where it takes a comment for a heading.",
              bash: "echo hello",
              hold: { name: "mid-sentence", afterChars: 40 },
              chunkChars: 10
            },
            {
              hold: "in-thought",
              bash: "echo work > work.txt && git add -A && git commit -q -m 'Work' && git rev-parse HEAD"
            },
            { text: "Done." }
          ]),
          once({ role: "reviewer", kind: "work" }, [
            { hold: "in-review", bash: "git log --oneline" },
            { text: "I have read it." }
          ])
        )
      })
      const { address, link } = yield* startConsole(world)
      const { page } = yield* openPage(yield* startBrowser)
      yield* act(() => page.goto(link))
      yield* sees(page, "Nothing needs you")
      const run = yield* world.start("run", "PLAN.md", "--no-input")
      yield* act(() => page.getByRole("link", { name: "Runs" }).click())
      yield* act(() => page.getByRole("link", { name: /A plan/ }).click())
      yield* world.model.awaitHeld("mid-sentence")
      const tab = yield* act(() => page.context().newPage())
      yield* act(() => tab.goto(page.url()))
      const now = [page, tab].map((one) => one.getByRole("region", { name: "Right now" }))
      for (const one of now) yield* act(() => one.waitFor())
      yield* world.model.release("mid-sentence")
      for (const one of now) yield* act(() => one.getByText(/bash echo hello/).waitFor())
      yield* presses(page, /^Pause/)
      yield* sees(page, "The run pauses after its current turn.")
      yield* world.model.release("in-thought")
      yield* act(() => page.getByText("Paused").first().waitFor())
      yield* presses(page, /^Resume$/)
      yield* world.model.awaitHeld("in-review")
      yield* act(() => page.getByRole("button", { name: "Pause" }).waitFor())
      yield* presses(page, /^Abort$/)
      yield* pictured(page, "abort")
      yield* presses(page, /^Abort the run/)
      yield* act(() => page.getByText("Aborted").first().waitFor())
      yield* run.ended
      assert.deepStrictEqual(
        (yield* world.runs).map(({ status }) => status),
        ["aborted"]
      )
      assert.isTrue(page.url().startsWith(`${address}/runs/`))
    })
  )
})
