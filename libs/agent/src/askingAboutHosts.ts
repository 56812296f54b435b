/**
 * A runtime whose agents' commands ask before they reach a name that the sandbox does not allow: a permission like any other,
 * asked once for each name and turn while the command waits (docs/design/sessions.md#refused-permissions).
 */
import { randomUUID } from "node:crypto"
import type { SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, PubSub, Stream } from "effect"
import type { AgentRuntimeShape, Prompt, PromptReply } from "./AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "./RuntimeEvent.ts"

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
  sandbox: SandboxShape | undefined
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

  const prompt: AgentRuntimeShape["prompt"] = (it) =>
    Effect.gen(function* () {
      const decided = new Map<string, Promise<boolean>>()
      const services = yield* Effect.context<never>()
      const turn = new AbortController()
      yield* Effect.addFinalizer(() => Effect.sync(() => turn.abort()))
      yield* sandbox.decideHosts(it.directory, ({ host }) => {
        const known = decided.get(host)
        if (known !== undefined) return known
        const answered = Effect.runPromiseWith(services)(ask(host, it), { signal: turn.signal }).catch(() => false)
        decided.set(host, answered)
        return answered
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
