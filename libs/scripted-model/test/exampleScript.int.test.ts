import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Result, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { readScript } from "../src/index.ts"
import type { ModelMessage } from "../src/player/ModelRequest.ts"
import { ScriptPlayer } from "../src/player/ScriptPlayer.ts"
import { calls, request, result, says, user } from "./support/modelRequest.ts"

const example = fileURLToPath(import.meta.resolve("../examples/authorAndReviewer.json"))
const program = fileURLToPath(import.meta.resolve("../src/main.ts"))

const hash = "0123456789abcdef0123456789abcdef01234567"
const report = user("Report as JSON with readiness, items, or result, commit, completedTasks.")

describe("the example script", () => {
  it.live("plays a whole phase with one correction", () =>
    Effect.gen(function* () {
      const player = new ScriptPlayer(yield* readScript(example))
      const author: Array<ModelMessage> = [user("You are the author of phase 1 of the plan plan.md.")]
      const reviewer: Array<ModelMessage> = [user("You are the reviewer of phase 1 of the plan plan.md.")]
      const rules: Array<string> = []
      /** Plays calls until the turn ends, with a hash as the result of every tool; returns the last text. */
      const turn = (session: string, messages: Array<ModelMessage>): string => {
        const { outcome, rule, step } = player.play(request(messages, { session }))
        rules.push(`${rule} ${step}`)
        if (Result.isFailure(outcome)) return outcome.failure.message
        const { text, toolCalls, fault } = outcome.success
        if (fault !== undefined) return turn(session, messages)
        if (toolCalls.length === 0) messages.push(says(text))
        else messages.push(calls("tool"), result(hash))
        return toolCalls.length === 0 ? text : turn(session, messages)
      }
      const ask = (session: string, messages: Array<ModelMessage>, message: ModelMessage) => {
        messages.push(message)
        return turn(session, messages)
      }
      assert.strictEqual(turn("a", author), `Committed ${hash}.`)
      assert.include(ask("a", author, report), `"commit": "${hash}"`)
      turn("r", reviewer)
      assert.include(ask("r", reviewer, report), "ready_with_corrections")
      assert.strictEqual(ask("a", author, user("Address: R1 helo is misspelt")), "Fixed.")
      ask("a", author, report)
      assert.strictEqual(ask("r", reviewer, user(`A new commit (${hash}) has been made`)), `I have read ${hash}.`)
      assert.include(ask("r", reviewer, report), `"readiness": "ready"`)
      assert.deepStrictEqual(rules, [
        "author executes 0",
        "author executes 1",
        "author executes 2",
        "author reports 0",
        "reviewer reads 0",
        "reviewer reads 1",
        "reviewer objects 0",
        "author fixes 0",
        "author fixes 1",
        "author fixes 2",
        "author fixes 2",
        "author reports 0",
        "reviewer looks again 0",
        "reviewer is content 0"
      ])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

const decodeLine = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))

describe("the program", () => {
  it.live("prints its URLs in one line and serves until it is stopped", () =>
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const model = yield* spawner.spawn(ChildProcess.make(process.execPath, [program, example], { extendEnv: true }))
      const line = yield* model.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
      const { url } = yield* decodeLine(Option.getOrUndefined(line))
      assert.strictEqual((yield* Effect.promise(() => fetch(`${url}/health`))).status, 200)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("explains why a script cannot be used", () =>
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const model = yield* spawner.spawn(ChildProcess.make(process.execPath, [program, "/nowhere.json"]))
      const said = yield* Effect.forkChild(Stream.mkString(Stream.decodeText(model.stderr)))
      assert.strictEqual(Number(yield* model.exitCode), 1)
      assert.include(yield* Fiber.join(said), "The script of the scripted model (/nowhere.json) cannot be used")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
