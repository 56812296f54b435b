/**
 * A runtime whose agents' commands ask before they reach a name that the sandbox does not allow: a permission like any other,
 * asked once for each name and turn while the command waits (docs/design/sessions.md#refused-permissions). A name that a rule
 * denies is refused at once.
 */
import { randomUUID } from "node:crypto"
import type { SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, PubSub, Stream } from "effect"
import type { AgentRuntimeShape, Prompt, PromptReply } from "./AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "./RuntimeEvent.ts"
import { decide } from "./rules/decide.ts"
import type { RuleBook } from "./rules/RuleBook.ts"

interface Asked {
  readonly prompt: PendingPrompt
  readonly directory: string
  readonly answer: Deferred.Deferred<PromptReply>
}

const promptFor = (host: string, { promptId, runtimeSessionId }: Prompt): PendingPrompt => ({
  sessionId: runtimeSessionId,
  causePromptId: promptId.messageId,
  promptId: `host-${randomUUID()}`,
  kind: "permission",
  text: `network: ${host}`,
  options: [
    { name: "once", label: "Allow it until the end of this turn" },
    { name: "reject", label: "Reject" }
  ],
  questions: []
})

export const askingAboutHosts = Effect.fnUntraced(function* (
  runtime: AgentRuntimeShape,
  sandbox: SandboxShape | undefined,
  book: RuleBook
) {
  if (sandbox?.standing._tag !== "used") return runtime
  const open = new Map<string, Asked>()
  const hub = yield* PubSub.unbounded<RuntimeEvent>()
  const tell = (event: RuntimeEvent) => Effect.asVoid(PubSub.publish(hub, event))

  /** Waits for the reply without a limit; when the turn ends, nobody waits for it any more. */
  const ask = Effect.fnUntraced(function* (host: string, it: Prompt) {
    const prompt = promptFor(host, it)
    const answer = yield* Deferred.make<PromptReply>()
    open.set(prompt.promptId, { prompt, directory: it.directory, answer })
    yield* tell({ type: "prompting", ...prompt })
    const { kind: _kind, options: _options, questions: _questions, text: _text, ...at } = prompt
    const reply = yield* Deferred.await(answer).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          open.delete(prompt.promptId)
          return tell({ type: "replied", ...at })
        })
      )
    )
    return reply.kind === "permission" && reply.reply !== "reject"
  })

  const tellRefused = (host: string, rule: string, it: Prompt) => {
    const { kind: _kind, options: _options, questions: _questions, ...wish } = promptFor(host, it)
    return tell({ type: "refused", ...wish, rule })
  }

  const prompt: AgentRuntimeShape["prompt"] = (it) =>
    Effect.gen(function* () {
      const decided = new Map<string, Promise<boolean>>()
      const refused = new Set<string>()
      const services = yield* Effect.context<never>()
      const turn = new AbortController()
      yield* Effect.addFinalizer(() => Effect.sync(() => turn.abort()))
      const run = Effect.runPromiseWith(services)
      const askOnce = (host: string): Promise<boolean> => {
        const known = decided.get(host)
        if (known !== undefined) return known
        const answered = run(ask(host, it), { signal: turn.signal }).catch(() => false)
        decided.set(host, answered)
        return answered
      }
      // Each time anew: a rule may be about one port of a name.
      yield* sandbox.decideHosts(it.directory, async ({ host, port }) => {
        const decision = decide(await run(book.rules), { kind: "address", url: `https://${host}:${port}` })
        if (decision._tag !== "deny") return askOnce(host)
        const { rule } = decision
        const wish = `${rule} ${host}`
        if (refused.has(wish)) return false
        refused.add(wish)
        await run(tellRefused(host, rule, it))
        return false
      })
      return yield* runtime.prompt(it)
    }).pipe(Effect.scoped)

  return {
    ...runtime,
    prompt,
    events: Stream.merge(runtime.events, Stream.fromPubSub(hub)),
    pendingPrompts: (directory) =>
      Effect.map(runtime.pendingPrompts(directory), (prompts) => [
        ...prompts,
        ...[...open.values()].flatMap((asked) => (asked.directory === directory ? [asked.prompt] : []))
      ]),
    reply: (it) => {
      const asked = open.get(it.promptId)
      if (asked === undefined) return runtime.reply(it)
      return Effect.map(Deferred.succeed(asked.answer, it.reply), (first) => (first ? "delivered" : "gone"))
    }
  } satisfies AgentRuntimeShape
})
