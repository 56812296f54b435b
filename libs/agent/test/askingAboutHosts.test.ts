/** Names that a command in the sandbox wants to reach: whom a runtime asks, and what a rule refuses at once. */
import { assert, describe, it } from "@effect/vitest"
import type { HostDecider, SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, Fiber, Stream } from "effect"
import type { AgentRuntimeShape } from "../src/AgentRuntimeShape.ts"
import { askingAboutHosts } from "../src/askingAboutHosts.ts"
import { promptIds } from "../src/promptIds.ts"
import type { RuntimeEvent } from "../src/RuntimeEvent.ts"
import { noRules } from "../src/rules/PermissionRules.ts"
import { rulesInMemory } from "../src/rules/RuleBook.ts"

const directory = "/work"

/** What no rule denies: asked about at the end, so that all that was told before it has been read. */
const last = "last.org"

/** A turn whose command wants these names, the first of them at first in two connections at the same time; every question is answered with `once`. */
const reached = (denied: ReadonlyArray<string>, wanted: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const turn = yield* Deferred.make<HostDecider>()
    const ended = yield* Deferred.make<never>()
    const sandbox = {
      standing: { _tag: "used" },
      decideHosts: (_directory: string, decider: HostDecider) => Deferred.succeed(turn, decider)
    } as unknown as SandboxShape
    const runtime = {
      prompt: () => Deferred.await(ended),
      events: Stream.never,
      pendingPrompts: () => Effect.succeed([])
    } as unknown as AgentRuntimeShape
    const book = rulesInMemory({ ...noRules, deny: { ...noRules.deny, addresses: [...denied] } })
    const asking = yield* askingAboutHosts(runtime, sandbox, book)
    const prompt = { runtimeSessionId: "s", directory, promptId: promptIds(1_000, "turn", 1), text: "go" }
    const allow = (event: RuntimeEvent) => {
      if (event.type !== "prompting") return Effect.void
      const { promptId } = event
      const reply = { kind: "permission", reply: "once" } as const
      return Effect.ignore(asking.reply({ runtimeSessionId: "s", promptId, reply }))
    }
    const reading = yield* asking.events.pipe(
      Stream.tap(allow),
      Stream.takeUntil((event) => event.type === "prompting" && event.text === `network: ${last}`),
      Stream.runCollect,
      Effect.forkScoped({ startImmediately: true })
    )
    const running = yield* Effect.forkScoped(asking.prompt(prompt))
    const decide = yield* Deferred.await(turn)
    const [firstHost = "", firstPort] = (wanted[0] ?? "").split(":")
    const twice = { host: firstHost, port: Number(firstPort) }
    yield* Effect.promise(() => Promise.all([decide(twice), decide(twice)]))
    const answers: Array<boolean> = []
    for (const target of wanted) {
      const [host = "", port] = target.split(":")
      answers.push(yield* Effect.promise(() => decide({ host, port: Number(port) })))
    }
    yield* Effect.promise(() => decide({ host: last, port: 443 }))
    const told = [...(yield* Fiber.join(reading))]
    yield* Fiber.interrupt(running)
    const texts = told.slice(0, -1).flatMap((event) => {
      if (event.type === "prompting") return [`asked ${event.text}`]
      return event.type === "refused" ? [`${event.rule} refused ${event.text}`] : []
    })
    return { answers, texts, causes: new Set(told.map(({ causePromptId }) => causePromptId)), prompt }
  }).pipe(Effect.scoped)

describe("a name that the sandbox does not let through", () => {
  it.effect.each([
    [
      "is asked about once where no rule denies it",
      [],
      ["a.org:443", "a.org:443"],
      [true, true],
      ["asked network: a.org"]
    ],
    [
      "is refused without a question where a rule denies it, and told once for a turn",
      ["a.org"],
      ["a.org:443", "a.org:80"],
      [false, false],
      ["permissions.deny.addresses: a.org refused network: a.org"]
    ],
    [
      "is refused below a denied name",
      ["*.a.org"],
      ["b.a.org:443", "a.org:443"],
      [false, true],
      ["permissions.deny.addresses: *.a.org refused network: b.a.org", "asked network: a.org"]
    ],
    [
      "is refused on a denied port, though another one was allowed in the same turn",
      ["a.org:8080"],
      ["a.org:443", "a.org:8080"],
      [true, false],
      ["asked network: a.org", "permissions.deny.addresses: a.org:8080 refused network: a.org"]
    ]
  ] as const)("%s", ([, denied, wanted, answers, texts]) =>
    Effect.gen(function* () {
      const seen = yield* reached(denied, wanted)
      assert.deepStrictEqual(seen.answers, [...answers])
      assert.deepStrictEqual(seen.texts, [...texts])
      assert.deepStrictEqual([...seen.causes], [seen.prompt.promptId.messageId])
    })
  )
})
