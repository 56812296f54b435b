/** Restate: a server that keeps a journal of each invocation and calls the worker over HTTP. */

import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { folder, packageVersion } from "./installed.ts"
import { type Chain, doStep, freePort, type Peer, programServer, untilListening } from "./Peer.ts"

const program = join(
  folder,
  `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`
)

/** What a handler uses of Restate's context. */
interface Context {
  readonly run: (name: string, step: () => Promise<string>) => Promise<string>
  readonly promise: (name: string) => Promise<string> & { readonly resolve: (answer: string) => Promise<void> }
  readonly get: (name: string) => Promise<unknown>
  readonly set: (name: string, value: unknown) => void
}

const post = async (url: string, body: unknown = {}): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return text
}

export const restate: Peer = {
  name: "restate",
  canPark: true,
  hasEffects: true,
  missing: () => (existsSync(program) ? undefined : "its server has no build for this machine"),
  describe: () =>
    `Restate ${packageVersion("@restatedev/restate-server")}, SDK ${packageVersion("@restatedev/restate-sdk")}; its defaults: the log is synced before an acknowledgement`,

  startServer: async (directory) => {
    const [ingress, admin, node, worker] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
    const config = join(directory, "restate.toml")
    writeFileSync(
      config,
      [
        `base-dir = "${join(directory, "data")}"`,
        `bind-address = "127.0.0.1:${node}"`,
        `advertised-address = "http://127.0.0.1:${node}/"`,
        'node-name = "bench"',
        'listen-mode = "tcp"',
        "disable-telemetry = true",
        "[ingress]",
        `bind-address = "127.0.0.1:${ingress}"`,
        "[admin]",
        `bind-address = "127.0.0.1:${admin}"`,
        ""
      ].join("\n")
    )
    const address = {
      ingress: `http://127.0.0.1:${ingress}`,
      admin: `http://127.0.0.1:${admin}`,
      worker: String(worker)
    }
    const server = await programServer(() => [program, ["--config-file", config]], [admin, ingress], address, {
      stop: "SIGTERM"
    })
    return server
  },

  work: async ({ worker }) => {
    const sdk = await import("@restatedev/restate-sdk")
    const run = async (context: Context, chain: Chain) => {
      for (let step = 1; step <= chain.steps; step++) await context.run(`step ${step}`, () => doStep(chain, step))
    }
    const parked = async (context: Context) => {
      context.set("parked", true)
      await context.promise("answer")
    }
    const chain = sdk.workflow({ name: "chain", handlers: { run } })
    const question = sdk.workflow({
      name: "question",
      handlers: {
        run: parked,
        isParked: async (context: Context) => (await context.get("parked")) === true,
        answer: (context: Context) => context.promise("answer").resolve("yes")
      }
    })
    sdk.serve({ services: [chain, question], port: Number(worker) })
    await untilListening(Number(worker))
  },

  register: async ({ admin, worker }) => {
    while (true) {
      const done = await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${worker}`, force: true }).then(
        () => true,
        () => false
      )
      if (done) return
      await pause(100)
    }
  },

  client: async ({ ingress }) => {
    /** Whoever waits when the server is killed asks again. */
    const attach = async (workflow: string, id: string): Promise<void> => {
      while (true) {
        const response = await fetch(`${ingress}/restate/workflow/${workflow}/${id}/attach`).catch(() => undefined)
        if (response?.ok === true) return void (await response.text())
        await pause(20)
      }
    }
    return {
      run: async (chain) => {
        await post(`${ingress}/chain/${chain.id}/run`, chain).catch(() => attach("chain", chain.id))
      },
      park: async (id) => {
        await post(`${ingress}/question/${id}/run/send`)
        while ((await post(`${ingress}/question/${id}/isParked`)) !== "true") await pause(5)
      },
      answer: async (id) => {
        await Promise.all([post(`${ingress}/question/${id}/answer`), attach("question", id)])
      }
    }
  }
}
