/** The real proxy, and a listener of this machine in place of the internet: `localhost` is the name that leads to it. */
import { execFile } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { type Decider, layerSandbox, Sandbox } from "../src/index.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const sandboxFor = (it: Scene, ...network: ReadonlyArray<string>) =>
  layerSandbox({
    mode: "required",
    gates: true,
    settings: { write: [], read: [], deny: [], network },
    stateDirectory: it.stateDirectory,
    environment: { ...process.env, HOME: it.home }
  })

const run = (it: Scene, shell: string, command: string) =>
  Effect.callback<string>((resume) => {
    execFile(shell, ["-c", command], { cwd: it.workspace, timeout: 60_000 }, (_error, stdout, stderr) =>
      resume(Effect.succeed(stdout + stderr))
    )
  })

const deciding = (reach: Decider["reach"]): Decider => ({ reach, write: () => Promise.resolve("told") })

const curl = (host: string, { port }: Scene) => `curl -sS -m 20 --noproxy '' http://${host}:${port}/`

describe.skipIf(!sandboxed)("a command in the sandbox", () => {
  it.live("reaches a name that is allowed, and no other one", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        // At the same time: the proxy is started once.
        const shells = [sandbox.shellFor(here.workspace, "author"), sandbox.gateShell(here.workspace, RunId.make("r1"))]
        for (const shell of yield* Effect.all(shells, { concurrency: 2 })) {
          assert.include(yield* run(here, shell, curl("localhost", here)), canary)
          for (const host of ["127.0.0.1", "[::1]", "2130706433", "example.org", "localhost.example.org"]) {
            const output = yield* run(here, shell, curl(host, here))
            assert.include(output, "may not be reached from the sandbox", host)
          }
        }
        const reviewer = yield* sandbox.shellFor(here.workspace, "reviewer")
        assert.notInclude(yield* run(here, reviewer, curl("localhost", here)), canary)
      }).pipe(Effect.provide(sandboxFor(here, "localhost")))
    })
  )

  it.live("cannot reach a name over the connection that it opened to another one", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        // The proxy knows the name from now on; the workspace may reach it no more.
        const allowed = yield* Effect.scoped(
          Effect.andThen(
            sandbox.decide(
              here.workspace,
              deciding(() => Promise.resolve(true))
            ),
            run(here, shell, curl("127.0.0.1", here))
          )
        )
        assert.include(allowed, canary)
        const request = (host: string) =>
          `GET http://${host}:${here.port}/ HTTP/1.1\\r\\nHost: ${host}:${here.port}\\r\\n`
        const authorized = "Proxy-Authorization: Basic %s\\r\\n\\r\\n"
        const key = `$(printf %s "\${HTTP_PROXY#http://}" | cut -d@ -f1 | tr -d '\\n' | base64 -w0)`
        const both = `exec 3<>/dev/tcp/127.0.0.1/3128; printf '${request("localhost")}${authorized}${request("127.0.0.1")}${authorized}' "${key}" "${key}" >&3; timeout 20 cat <&3`
        const output = yield* run(here, shell, both)
        assert.isAtMost(output.split(canary).length, 2, output)
      }).pipe(Effect.provide(sandboxFor(here, "localhost")))
    })
  )

  it.live("waits while somebody is asked about a name, and reaches it if they allow it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        const asked: Array<string> = []
        const decider = deciding(({ host, port }) => {
          asked.push(`${host}:${port}`)
          return Promise.resolve(host === "localhost")
        })
        const both = `${curl("localhost", here)}; ${curl("example.org", here)}`
        const output = yield* Effect.scoped(
          Effect.andThen(sandbox.decide(here.workspace, decider), run(here, shell, both))
        )
        assert.include(output, canary)
        assert.include(output, "example.org may not be reached from the sandbox")
        assert.deepStrictEqual(asked, [`localhost:${here.port}`, `example.org:${here.port}`])
        // What was allowed once was allowed by whoever was asked: nobody is asked now.
        assert.include(yield* run(here, shell, curl("localhost", here)), "may not be reached")
        // A quality gate has nobody to ask.
        const gate = yield* sandbox.gateShell(here.workspace, RunId.make("r1"))
        const gated = yield* Effect.scoped(
          Effect.andThen(sandbox.decide(here.workspace, decider), run(here, gate, curl("localhost", here)))
        )
        assert.include(gated, "may not be reached")
      }).pipe(Effect.provide(sandboxFor(here, "registry.npmjs.org")))
    })
  )
})
