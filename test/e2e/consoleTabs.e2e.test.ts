// @module-tag long
import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { EscalationId } from "@reprise/protocol"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { act, holdAnswers, lacksBrowser, openPage, presses, sees, startBrowser } from "../harness/browser.ts"
import { makeCuttable } from "../harness/cuttable.ts"
import { answerElsewhere, gateWith, openGate, raise } from "../harness/gateConsole.ts"
import { waitUntil } from "../harness/waitUntil.ts"

/** As of browsers without shared workers, such as Chrome on Android. */
const withoutSharedWorkers = "delete window.SharedWorker"

/** Tabs that have connected, and see no question yet. */
const openTabs = Effect.fnUntraced(function* (link: string, count: number, script?: string) {
  // As narrow as a telephone: a wide page opens the first question by itself.
  const { page: first, problems } = yield* openPage(yield* startBrowser, { viewport: { width: 360, height: 800 } })
  const context = first.context()
  if (script !== undefined) yield* act(() => context.addInitScript(script))
  const pages: Array<Page> = []
  while (pages.length < count) {
    const page = pages.length === 0 ? first : yield* act(() => context.newPage())
    page.on("pageerror", (error) => problems.push(error.message))
    yield* holdAnswers(page)
    yield* act(() => page.goto(link))
    yield* sees(page, "Nothing needs you")
    yield* live(page)
    pages.push(page)
  }
  return { pages, problems, context }
})

const live = (page: Page) => act(() => page.getByText("Live", { exact: true }).waitFor({ state: "attached" }))

/** The rows of the list with these words. */
const rows = (page: Page, reason: string) => page.getByRole("link", { name: reason })
const showsOnce = (page: Page, reason: string) =>
  waitUntil(
    act(() =>
      rows(page, reason)
        .count()
        .then((count) => (count === 1 ? true : undefined))
    )
  )
const showsNoMore = (page: Page, reason: string) => act(() => rows(page, reason).waitFor({ state: "detached" }))

const answers = Effect.fnUntraced(function* (page: Page, name: string) {
  yield* act(() => rows(page, reasonOf(name)).click())
  yield* act(() => page.getByRole("heading", { name: `Question ${name}-e1` }).waitFor({ state: "attached" }))
  yield* presses(page, /fix in new session/i)
  yield* presses(page, /^Send now/)
  yield* sees(page, /^Answered:/)
})
const reasonOf = (name: string) => `Which way for ${name}?`

const viewOf = (name: string) => Messenger.use(({ show }) => show.gate(EscalationId.make(`${name}-e1`)))

describe.skipIf(lacksBrowser)("the tabs of one browser", () => {
  layer(gateWith(), { excludeTestServices: true, timeout: "10 minutes" })("over a broker in memory", (it) => {
    it.effect("all show a question when it is raised, and each can answer, though a browser has six connections", () =>
      Effect.gen(function* () {
        const { link } = yield* openGate()
        const { pages, problems } = yield* openTabs(link, 8)
        const names = pages.map((_, n) => `tab${n}`)
        yield* Effect.forEach(names, (name) => raise(name, reasonOf(name)))
        for (const page of pages) yield* Effect.forEach(names, (name) => showsOnce(page, reasonOf(name)))
        for (const [n, page] of pages.entries()) yield* answers(page, names[n] ?? "")
        const answered = yield* Effect.forEach(names, (name) => viewOf(name))
        assert.deepStrictEqual(
          answered.map(({ by, via }) => `${by} through ${via}`),
          names.map(() => "ada through web")
        )
        assert.deepStrictEqual(problems, [])
      })
    )

    it.effect("miss nothing and show nothing twice when the connection is cut", () =>
      Effect.gen(function* () {
        const way = yield* makeCuttable()
        const { link, port } = yield* openGate({ origin: way.origin })
        way.leadTo(port)
        const { context, pages } = yield* openTabs(link, 2)
        yield* raise("before", reasonOf("before"))
        for (const page of pages) yield* showsOnce(page, reasonOf("before"))
        way.cut()
        for (const page of pages) yield* sees(page, /Connection lost/)
        yield* answerElsewhere("before")
        yield* raise("meanwhile", reasonOf("meanwhile"))
        way.join()
        const late = yield* act(() => context.newPage())
        yield* act(() => late.goto(link))
        for (const page of [...pages, late]) {
          yield* live(page)
          yield* showsOnce(page, reasonOf("meanwhile"))
          yield* showsNoMore(page, reasonOf("before"))
        }
        yield* answers(late, "meanwhile")
        for (const page of pages) yield* sees(page, "Nothing needs you")
      })
    )

    it.effect("go on when the one is closed that holds the connection, where there are no shared workers", () =>
      Effect.gen(function* () {
        const { link } = yield* openGate()
        const { pages, problems } = yield* openTabs(link, 3, withoutSharedWorkers)
        // Whoever was opened last was looked at last.
        for (const name of ["third", "second", "first"]) {
          yield* raise(name, reasonOf(name))
          for (const page of pages) yield* showsOnce(page, reasonOf(name))
          const last = pages.pop() ?? assert.fail("no tab is left")
          yield* answers(last, name)
          for (const page of pages) yield* showsNoMore(page, reasonOf(name))
          if (pages.length > 0) yield* act(() => last.close())
        }
        assert.deepStrictEqual(problems, [])
      })
    )

    it.effect("are all signed out when somebody signs out in one", () =>
      Effect.gen(function* () {
        const { link } = yield* openGate()
        const { pages } = yield* openTabs(link, 2)
        const [one = assert.fail("no tab")] = pages
        yield* presses(one, /^Sign out/)
        for (const page of pages) yield* sees(page, "Sign in to Reprise")
      })
    )
  })
})
