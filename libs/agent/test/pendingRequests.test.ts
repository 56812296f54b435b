import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import type { Asked } from "../src/opencode/events/ActivityTracker.ts"
import { type Calls, Refused } from "../src/opencode/server/calls.ts"
import { PendingRequests } from "../src/opencode/session/PendingRequests.ts"
import { modeMetadata } from "../src/opencode/session/permissionRules.ts"
import { SessionFacts } from "../src/opencode/session/SessionFacts.ts"
import type { RuntimeEvent } from "../src/RuntimeEvent.ts"
import { noRules } from "../src/rules/PermissionRules.ts"
import { rulesInMemory } from "../src/rules/RuleBook.ts"

const directory = "/work"
const sessionID = "ses_1"
const permission = {
  id: "per_1",
  sessionID,
  permission: "bash",
  patterns: ["ls"],
  metadata: {},
  always: []
}
const asked: Asked = { type: "permission-asked", request: permission }

/** OpenCode's lists at the moment at which they are asked for; `answered`: when the list of questions arrives. */
const promptsOf = (
  listed: Array<typeof permission>,
  answered: Deferred.Deferred<void>,
  options: Partial<ConstructorParameters<typeof PendingRequests>[3]> = {}
) => {
  const answers: Readonly<Record<string, unknown>> = {
    "pending questions": [],
    session: { id: sessionID, directory, metadata: modeMetadata("ask") },
    paths: { worktree: directory }
  }
  let replies = 0
  const once = (operation: string) =>
    Effect.suspend(() => {
      if (operation === "answering" && replies++ > 0) {
        return Effect.fail(new Refused({ operation, status: 404, detail: "It was answered." }))
      }
      const answer = operation === "pending permissions" ? [...listed] : answers[operation]
      const arrival = operation === "pending questions" ? Deferred.await(answered) : Effect.void
      return Effect.as(arrival, answer)
    })
  const calls = { once, reaching: once } as unknown as Calls
  return new PendingRequests(calls, new SessionFacts(), (id) => ({ sessionId: id }), {
    protectedPaths: () => Effect.succeed([]),
    ...options
  })
}

const now = Effect.tap(Deferred.make<void>(), (it) => Deferred.succeed(it, undefined))

describe("the prompts that agents wait for", () => {
  it.effect("say which of them are gone, once, to whoever asks first", () =>
    Effect.gen(function* () {
      const prompts = promptsOf([], yield* now)
      const prompt = Option.getOrThrow(yield* prompts.asked(asked))
      assert.deepStrictEqual(yield* prompts.refresh(directory), { open: [], appeared: [], gone: [prompt] })
      assert.deepStrictEqual(yield* prompts.refresh(directory), { open: [], appeared: [], gone: [] })
    })
  )

  it.effect("keep a prompt that came while OpenCode answered", () =>
    Effect.gen(function* () {
      const answered = yield* Deferred.make<void>()
      const prompts = promptsOf([], answered)
      const refreshing = yield* Effect.forkChild(prompts.refresh(directory), { startImmediately: true })
      const prompt = Option.getOrThrow(yield* prompts.asked(asked))
      yield* Deferred.succeed(answered, undefined)
      assert.deepStrictEqual(yield* Fiber.join(refreshing), { open: [prompt], appeared: [], gone: [] })
      assert.deepStrictEqual((yield* prompts.refresh(directory)).gone, [prompt])
    })
  )

  it.effect("do not come back with a list that OpenCode gave before the answer", () =>
    Effect.gen(function* () {
      const answered = yield* Deferred.make<void>()
      const prompts = promptsOf([permission], answered)
      yield* prompts.asked(asked)
      const refreshing = yield* Effect.forkChild(prompts.refresh(directory), { startImmediately: true })
      assert.isTrue(prompts.replied(permission.id))
      yield* Deferred.succeed(answered, undefined)
      assert.deepStrictEqual(yield* Fiber.join(refreshing), { open: [], appeared: [], gone: [] })
    })
  )

  it.effect("appear once, in an event or in the list", () =>
    Effect.gen(function* () {
      const prompts = promptsOf([permission], yield* now)
      const { appeared, open } = yield* prompts.refresh(directory)
      assert.deepStrictEqual([appeared, appeared.length], [open, 1])
      assert.deepStrictEqual(yield* prompts.asked(asked), Option.none())
      assert.deepStrictEqual(yield* prompts.refresh(directory), { open, appeared: [], gone: [] })
    })
  )

  it.effect("are not those that a rule refuses, which are told once, by an event or by the list", () =>
    Effect.gen(function* () {
      const told: Array<RuntimeEvent> = []
      const book = rulesInMemory({ ...noRules, deny: { ...noRules.deny, commands: ["ls"] } })
      const tell = (event: RuntimeEvent) => Effect.sync(() => void told.push(event))
      const prompts = promptsOf([permission], yield* now, { book, tell })
      assert.deepStrictEqual(yield* prompts.asked(asked), Option.none())
      assert.deepStrictEqual(yield* prompts.refresh(directory), { open: [], appeared: [], gone: [] })
      const rule = "permissions.deny.commands: ls"
      assert.deepStrictEqual(told, [
        { type: "refused", sessionId: sessionID, promptId: "per_1", text: "bash: ls", rule }
      ])
    })
  )
})
