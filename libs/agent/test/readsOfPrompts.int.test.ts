/** What Claude reads by itself for a prompt, outside of the sandbox: nothing that the prompt, or a link of the tree, names. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { ScriptedModel } from "@reprise/scripted-model"
import { lacksClaude } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { AgentRuntime, layerClaude } from "../src/index.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds } from "./contract/World.ts"

/** What goes over the wire: the scripted model's own record leaves out what Claude adds to a prompt. */
class Wire extends Context.Service<Wire, { readonly url: string; readonly sent: () => string }>()("agent/test/Wire") {
  static readonly layer = Layer.effect(
    Wire,
    Effect.gen(function* () {
      const { url } = yield* ScriptedModel
      const bodies: Array<string> = []
      const server = createServer(async (request, response) => {
        const pieces: Array<Buffer> = []
        for await (const piece of request) pieces.push(piece)
        const body = Buffer.concat(pieces)
        bodies.push(body.toString())
        const headers = { "content-type": "application/json" }
        const answer = await fetch(`${url}${request.url}`, {
          method: request.method ?? "GET",
          headers,
          ...(body.length === 0 ? {} : { body })
        })
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
        response.end(Buffer.from(await answer.arrayBuffer()))
      })
      const port = yield* Effect.acquireRelease(
        Effect.callback<number>((resume) => {
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
          })
        }),
        () => Effect.sync(() => server.close().closeAllConnections())
      )
      return Wire.of({ url: `http://127.0.0.1:${port}`, sent: () => bodies.join("\n") })
    })
  )
}

const secret = "the-content-of-a-key"

const claude = Layer.unwrap(
  Effect.gen(function* () {
    const { root, stateDirectory } = yield* Places
    const { url } = yield* Wire
    mkdirSync(join(root, "home", ".ssh"), { recursive: true })
    writeFileSync(join(root, "home", ".ssh", "id_rsa"), secret)
    return layerClaude({ stateDirectory, environment: claudeEnvironment(root, url), pollMs: 100 })
  })
)

const world = claude.pipe(
  Layer.provideMerge(Wire.layer),
  Layer.provideMerge(ScriptedModel.layer({ script: { rules: [{ match: {}, reply: { text: "done" } }] } })),
  Layer.provideMerge(Places.layer)
)

describe.skipIf(lacksClaude)("a prompt for Claude", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect.each(["ask", "workspace", "all"] as const)(
      "is sent as it was written in mode %s: no file that it names, and all instructions of the repository",
      (permissions) =>
        Effect.gen(function* () {
          const { directory: base, root } = yield* Places
          const { sent } = yield* Wire
          const directory = join(base, permissions)
          const key = join(root, "home", ".ssh", "id_rsa")
          mkdirSync(join(directory, "folder", "secret-name-of-a-file"), { recursive: true })
          symlinkSync(key, join(directory, "link"))
          writeFileSync(join(directory, "CLAUDE.md"), `use tabs in ${permissions}`)
          const runtime = yield* AgentRuntime
          const text = `say hello @${key} @~/.ssh/id_rsa @link @folder "@${key}" @"${key}"`
          const session = { directory, title: "reads", permissions }
          const runtimeSessionId = yield* runtime.create(session)
          const prompt = { runtimeSessionId, directory, promptId: newIds(), text, role: "author" } as const
          assert.strictEqual((yield* runtime.prompt(prompt)).stopReason, "finished")
          assert.include(sent(), "@folder")
          assert.include(sent(), `use tabs in ${permissions}`)
          assert.notInclude(sent(), secret)
          assert.notInclude(sent(), "secret-name-of-a-file")
        })
    )
  })
})
