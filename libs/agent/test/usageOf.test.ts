/** What an OpenCode session has used, with its subagents. */
import { assert, describe, it } from "@effect/vitest"
import type { OpencodeClient, Session } from "@opencode-ai/sdk/v2/client"
import { Effect } from "effect"
import { type Calls, Refused } from "../src/opencode/server/calls.ts"
import type { Listed } from "../src/opencode/turn/turnOf.ts"
import { makeSubagentCalls, usageOf } from "../src/opencode/turn/usageOf.ts"

const session = (id: string, input: number): Session =>
  ({
    id,
    directory: "/",
    cost: 0.5,
    tokens: { input, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
    time: {}
  }) as Session

const answered = { info: { role: "assistant" }, parts: [] } as unknown as Listed
const delegated = {
  info: { role: "assistant" },
  parts: [{ type: "tool", tool: "task", state: { status: "completed", metadata: { sessionId: "ses_a" } } }]
} as unknown as Listed

/** An OpenCode that knows only these subagents and messages, and refuses all else. `asked`: the calls that it got. */
const openCode = (
  children: Record<string, ReadonlyArray<Session>>,
  messages: Record<string, ReadonlyArray<Listed>>
) => {
  const asked: Array<string> = []
  const from =
    (name: string, known: Record<string, unknown>) =>
    async ({ sessionID }: { sessionID: string }) => {
      asked.push(`${name} ${sessionID}`)
      return { data: known[sessionID] }
    }
  const client = {
    session: { children: from("children", children), messages: from("messages", messages) }
  } as unknown as OpencodeClient
  const ask = <A>(
    operation: string,
    run: (client: OpencodeClient, signal: AbortSignal) => Promise<{ data?: A | undefined }>
  ) =>
    Effect.flatMap(
      Effect.promise((signal) => run(client, signal)),
      ({ data }) =>
        data === undefined
          ? Effect.fail(new Refused({ operation, status: 404, detail: "not found" }))
          : Effect.succeed(data)
    )
  const calls: Pick<Calls, "reaching"> = { reaching: ask }
  return { calls, asked }
}

const root = session("ses_root", 10)
const [a, b] = [session("ses_a", 100), session("ses_b", 1000)]

describe("usageOf", () => {
  it.effect("holds the subagents at every depth, and how often they called the model", () =>
    Effect.gen(function* () {
      const known = { ses_root: [a], ses_a: [b], ses_b: [] }
      const { asked, calls } = openCode(known, { ses_a: [answered, answered], ses_b: [answered] })
      const callsOf = makeSubagentCalls(calls)
      const usage = yield* usageOf(calls, callsOf, root, [delegated])
      assert.deepStrictEqual([usage.tokens.input, usage.cost, usage.calls], [1110, 1.5, 4])
      asked.length = 0
      assert.deepStrictEqual(yield* usageOf(calls, callsOf, root, [delegated]), usage)
      assert.notInclude(asked.join(), "messages")
    })
  )

  it.effect("leaves out what is refused, such as a subagent that is deleted meanwhile, and does not fail", () =>
    Effect.gen(function* () {
      const some = openCode({ ses_root: [a, b], ses_b: [] }, { ses_b: [answered] })
      const usage = yield* usageOf(some.calls, makeSubagentCalls(some.calls), root, [delegated])
      assert.deepStrictEqual([usage.tokens.input, usage.calls], [1110, 2])
      const none = openCode({}, {})
      const own = yield* usageOf(none.calls, makeSubagentCalls(none.calls), root, [delegated])
      assert.deepStrictEqual([own.tokens.input, own.calls], [10, 1])
    })
  )
})
