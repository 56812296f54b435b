/** What the sandbox refuses to commands: about what a runtime asks, what a rule refuses at once, and what is only told. */
import { assert, describe, it } from "@effect/vitest"
import type { Role } from "@reprise/protocol"
import type { Decider, RefusedWrite, SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, Fiber, Stream } from "effect"
import type { AgentRuntimeShape } from "../src/AgentRuntimeShape.ts"
import { askingAboutSandbox } from "../src/askingAboutSandbox.ts"
import { promptIds } from "../src/promptIds.ts"
import type { RuntimeEvent } from "../src/RuntimeEvent.ts"
import { noRules, type PermissionRules } from "../src/rules/PermissionRules.ts"
import { rulesInMemory } from "../src/rules/RuleBook.ts"

const directory = "/work"

interface Situation {
  readonly rules?: Partial<PermissionRules>
  readonly role?: Role
  readonly reply?: "once" | "always" | "reject"
}

const textOf = (event: RuntimeEvent): ReadonlyArray<string> => {
  if (event.type === "prompting") return [`asked ${event.text}`]
  return event.type === "refused" ? [`${event.rule ?? `sandbox ${event.sandbox}`} refused ${event.text}`] : []
}

/** A turn in whose sandbox something happens; every question is answered alike. What is told last marks the end. */
const during = <A>({ reply = "once", role = "author", rules = {} }: Situation, act: (it: Decider) => Promise<A>) =>
  Effect.gen(function* () {
    const turn = yield* Deferred.make<Decider>()
    const ended = yield* Deferred.make<never>()
    const opened: Array<string> = []
    const sandbox = {
      standing: { _tag: "used", engine: "bubblewrap" },
      decide: (_directory: string, decider: Decider) => Deferred.succeed(turn, decider),
      open: (at: string, place: string) => Effect.sync(() => void opened.push(`${at} ${place}`))
    } as unknown as SandboxShape
    const runtime = {
      prompt: () => Deferred.await(ended),
      events: Stream.never,
      pendingPrompts: () => Effect.succeed([])
    } as unknown as AgentRuntimeShape
    const book = rulesInMemory({ ...noRules, ...rules })
    const asking = yield* askingAboutSandbox(runtime, sandbox, book)
    const prompt = { runtimeSessionId: "s", directory, promptId: promptIds(1_000, "turn", 1), text: "go", role }
    const answer = (event: RuntimeEvent) => {
      if (event.type !== "prompting") return Effect.void
      const { promptId } = event
      return Effect.ignore(asking.reply({ runtimeSessionId: "s", promptId, reply: { kind: "permission", reply } }))
    }
    const isLast = (event: RuntimeEvent) => event.type === "refused" && event.text === "write: /last"
    const reading = yield* asking.events.pipe(
      Stream.tap(answer),
      Stream.takeUntil(isLast),
      Stream.runCollect,
      Effect.forkScoped({ startImmediately: true })
    )
    const running = yield* Effect.forkScoped(asking.prompt(prompt))
    const decider = yield* Deferred.await(turn)
    const result = yield* Effect.promise(() => act(decider))
    yield* Effect.promise(() => decider.write({ path: "/last", failed: true }))
    const told = [...(yield* Fiber.join(reading))]
    yield* Fiber.interrupt(running)
    const options = told.flatMap((event) => (event.type === "prompting" ? [event.options.map(({ name }) => name)] : []))
    const { remembered } = yield* book.rules
    const causes = [...new Set(told.map(({ causePromptId }) => causePromptId))]
    assert.deepStrictEqual(causes, [prompt.promptId.messageId])
    return { result, texts: told.slice(0, -1).flatMap(textOf), options, opened, remembered }
  }).pipe(Effect.scoped)

/** The first name is wanted at first in two connections at the same time. */
const reaching =
  (...wanted: ReadonlyArray<string>) =>
  async ({ reach }: Decider) => {
    const [first, ...targets] = [wanted[0] ?? "", ...wanted].map((target) => {
      const [host = "", port] = target.split(":")
      return { host, port: Number(port) }
    })
    if (first !== undefined) await Promise.all([reach(first), reach(first)])
    const answers: Array<boolean> = []
    for (const target of targets) answers.push(await reach(target))
    return answers
  }

const denying = (...addresses: ReadonlyArray<string>) => ({ deny: { ...noRules.deny, addresses } })

describe("a name that the sandbox does not let through", () => {
  it.effect.each([
    [
      "is asked about once where no rule denies it",
      {},
      ["a.org:443", "a.org:443"],
      [true, true],
      ["asked network: a.org"]
    ],
    [
      "is refused without a question where a rule denies it, and told once for a turn",
      { rules: denying("a.org") },
      ["a.org:443", "a.org:80"],
      [false, false],
      ["permissions.deny.addresses: a.org refused network: a.org"]
    ],
    [
      "is refused below a denied name",
      { rules: denying("*.a.org") },
      ["b.a.org:443", "a.org:443"],
      [false, true],
      ["permissions.deny.addresses: *.a.org refused network: b.a.org", "asked network: a.org"]
    ],
    [
      "is refused on a denied port, though another one was allowed in the same turn",
      { rules: denying("a.org:8080") },
      ["a.org:443", "a.org:8080"],
      [true, false],
      ["asked network: a.org", "permissions.deny.addresses: a.org:8080 refused network: a.org"]
    ],
    [
      "is refused to a reviewer without a question, and told once for a turn",
      { role: "reviewer" },
      ["a.org:443", "b.org:443"],
      [false, false],
      ["sandbox network refused network: a.org", "sandbox network refused network: b.org"]
    ]
  ] as ReadonlyArray<
    readonly [string, Situation, ReadonlyArray<string>, ReadonlyArray<boolean>, ReadonlyArray<string>]
  >)("%s", ([, situation, wanted, answers, texts]) =>
    Effect.gen(function* () {
      const seen = yield* during(situation, reaching(...wanted))
      assert.deepStrictEqual(seen.result, [...answers])
      assert.deepStrictEqual(seen.texts, [...texts])
    })
  )
})

describe("a question about what the sandbox refuses", () => {
  it.effect.each([
    ["is gone when its turn ends", true, ["prompting", "replied"]],
    ["stays open when the process parks or ends: nobody has answered it", false, ["prompting"]]
  ] as const)("%s", ([, ends, types]) =>
    Effect.gen(function* () {
      const turn = yield* Deferred.make<Decider>()
      const ended = yield* Deferred.make<never>()
      const sandbox = {
        standing: { _tag: "used" },
        decide: (_directory: string, decider: Decider) => Deferred.succeed(turn, decider)
      } as unknown as SandboxShape
      const runtime = {
        prompt: () => Deferred.await(ended),
        events: Stream.never,
        pendingPrompts: () => Effect.succeed([])
      } as unknown as AgentRuntimeShape
      const asking = yield* askingAboutSandbox(runtime, sandbox, rulesInMemory())
      const seen: Array<RuntimeEvent["type"]> = []
      const asked = yield* Deferred.make<void>()
      yield* asking.events.pipe(
        Stream.runForEach((event) => {
          seen.push(event.type)
          return Deferred.succeed(asked, undefined)
        }),
        Effect.forkScoped({ startImmediately: true })
      )
      const promptId = promptIds(1_000, "turn", 1)
      const prompt = { runtimeSessionId: "s", directory, promptId, text: "go", role: "author" } as const
      const running = yield* Effect.forkScoped(Effect.exit(asking.prompt(prompt)))
      const { reach } = yield* Deferred.await(turn)
      const answer = reach({ host: "a.org", port: 443 })
      yield* Deferred.await(asked)
      yield* ends ? Deferred.die(ended, "over") : Fiber.interrupt(running)
      assert.isFalse(yield* Effect.promise(() => answer))
      assert.deepStrictEqual(yield* asking.pendingPrompts(directory), [])
      yield* Effect.yieldNow
      assert.deepStrictEqual(seen, [...types])
    }).pipe(Effect.scoped)
  )
})

const refused: RefusedWrite = { path: "/data/new", place: "/data", failed: true }
const writing =
  (...all: ReadonlyArray<RefusedWrite>) =>
  async ({ write }: Decider) => {
    const answers: Array<string> = []
    for (const one of all) answers.push(await write(one))
    return answers
  }
const told = ["sandbox write refused write: /data/new"]
const asked = ["asked write: /data/new"]
const rule = { kind: "write" as const, what: "/data" }

describe("a file that the sandbox does not let a command write", () => {
  it.effect.each([
    ["once", [refused, { ...refused, path: "/data/other" }], ["allowed", "allowed"], asked, ["/work /data"], []],
    ["always", [refused], ["allowed"], asked, ["/work /data"], [rule]],
    ["reject", [refused, refused], ["rejected", "rejected"], asked, [], []]
  ] as const)(
    "is asked about once for a turn, and opened as it is answered: %s",
    ([reply, all, answers, texts, opened, remembered]) =>
      Effect.gen(function* () {
        const seen = yield* during({ reply }, writing(...all))
        assert.deepStrictEqual(seen.result, [...answers])
        assert.deepStrictEqual(seen.texts, [...texts])
        assert.deepStrictEqual(seen.options, [["once", "always", "reject"]])
        assert.deepStrictEqual(seen.opened, [...opened])
        assert.deepStrictEqual(seen.remembered, [...remembered])
      })
  )

  it.effect.each([
    ["is protected", {}, { path: "/data/new", failed: true }],
    ["was not needed by its command", {}, { ...refused, failed: false }],
    ["is wanted by a reviewer", { role: "reviewer" }, refused]
  ] as ReadonlyArray<readonly [string, Situation, RefusedWrite]>)(
    "is told once for a turn and never asked about if it %s",
    ([, situation, one]) =>
      Effect.gen(function* () {
        const seen = yield* during(situation, writing(one, one))
        assert.deepStrictEqual(seen.result, ["told", "told"])
        assert.deepStrictEqual(seen.texts, told)
        assert.deepStrictEqual(seen.opened, [])
      })
  )

  it.effect("is refused without a question where a rule denies changing it", () =>
    Effect.gen(function* () {
      const rules = { deny: { ...noRules.deny, files: ["/data/**"] } }
      const seen = yield* during({ rules }, writing(refused))
      assert.deepStrictEqual(seen.texts, ["permissions.deny.files: /data/** refused write: /data/new"])
      assert.deepStrictEqual(seen.opened, [])
    })
  )
})
