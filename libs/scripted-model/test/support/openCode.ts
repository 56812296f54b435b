import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, FileSystem, Layer, Schedule, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { openCodeFolders } from "../../src/agentSettings.ts"

/** One of OpenCode's bundled providers, which chooses the protocol, and the base URL of the model. */
export interface Provider {
  readonly npm: "@ai-sdk/openai-compatible" | "@ai-sdk/anthropic"
  readonly baseURL: string
}

const config = (provider: Provider) => ({
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  autoupdate: false,
  share: "disabled",
  provider: {
    scripted: {
      npm: provider.npm,
      options: { baseURL: provider.baseURL, apiKey: "x" },
      models: { scripted: { name: "scripted", tool_call: true, limit: { context: 128_000, output: 8000 } } }
    }
  }
})

const listening = /listening on (http:\/\/\S+)/

/** A real OpenCode server with its own state folders, which needs no network. */
export class OpenCode extends Context.Service<OpenCode, { readonly url: string }>()("test/OpenCode") {
  static readonly layer = Layer.effect(
    OpenCode,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const home = yield* fs.makeTempDirectoryScoped({ prefix: "opencode-home-" })
      const server = yield* spawner.spawn(
        ChildProcess.make("opencode", ["serve", "--hostname", "127.0.0.1", "--port", "0"], {
          cwd: home,
          extendEnv: true,
          env: openCodeFolders(home)
        })
      )
      const url = yield* server.all.pipe(
        Stream.decodeText,
        Stream.splitLines,
        Stream.map((line) => listening.exec(line)?.[1]),
        Stream.filter((found) => found !== undefined),
        Stream.runHead,
        Effect.flatMap(Effect.fromOption)
      )
      yield* call(url, "GET", "/global/health").pipe(
        Effect.timeout("1 second"),
        Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 })
      )
      return { url }
    })
  ).pipe(Layer.provide(NodeServices.layer))
}

/** Makes OpenCode use a model on loopback for the sessions of one folder. */
export const useModel = (directory: string, provider: Provider): void =>
  writeFileSync(join(directory, "opencode.json"), JSON.stringify(config(provider)))

/** Sends one request to OpenCode's HTTP API and returns the decoded JSON. */
const call = (url: string, method: "GET" | "POST", path: string, body?: unknown) =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return (await response.json()) as unknown
  })

const Session = Schema.Struct({ id: Schema.String })
const Answer = Schema.Struct({
  info: Schema.Struct({
    error: Schema.optionalKey(Schema.Unknown),
    tokens: Schema.Struct({ input: Schema.Finite, cache: Schema.Struct({ read: Schema.Finite }) })
  }),
  parts: Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) }))
})

/** Creates a session in a folder and returns its id. A session without a title makes OpenCode ask the model for one. */
export const createSession = Effect.fnUntraced(function* (directory: string, title?: string) {
  const { url } = yield* OpenCode
  const path = `/session?directory=${encodeURIComponent(directory)}`
  const created = yield* call(url, "POST", path, title === undefined ? {} : { title })
  return (yield* Schema.decodeUnknownEffect(Session)(created)).id
})

/** Runs a whole turn and returns the text, the tokens and the error of the answer. */
export const prompt = Effect.fnUntraced(function* (directory: string, session: string, text: string) {
  const { url } = yield* OpenCode
  const path = `/session/${session}/message?directory=${encodeURIComponent(directory)}`
  const answer = yield* call(url, "POST", path, { parts: [{ type: "text", text }] })
  const { info, parts } = yield* Schema.decodeUnknownEffect(Answer)(answer)
  return {
    error: info.error,
    tokens: info.tokens,
    text: parts.flatMap((part) => (part.type === "text" && part.text !== undefined ? [part.text] : [])).join("\n")
  }
})
