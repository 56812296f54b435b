/** DBOS: a library that keeps the results of steps in PostgreSQL. Its client asks the worker over HTTP, as of an application. */
import { execFileSync } from "node:child_process"
import { chownSync, mkdirSync } from "node:fs"
import { createServer, request } from "node:http"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { packageVersion, postgresPrograms, programVersion } from "./installed.ts"
import { type Chain, doStep, freePort, type Peer, programServer, untilListening } from "./Peer.ts"

const programs = () => postgresPrograms() ?? ""

/** PostgreSQL does not run as root. */
const user = (): number | undefined =>
  process.getuid?.() === 0 ? Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" })) : undefined

const post = (port: string, path: string, body: unknown = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path, method: "POST" }, (response) => {
      response.resume()
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))))
      response.on("error", reject)
    })
    call.on("error", reject)
    call.end(JSON.stringify(body))
  })

export const dbos: Peer = {
  name: "dbos",
  canPark: true,
  hasEffects: true,
  missing: () => (postgresPrograms() === undefined ? "there is no PostgreSQL on this machine" : undefined),
  describe: () =>
    `DBOS ${packageVersion("@dbos-inc/dbos-sdk")} with PostgreSQL ${programVersion(join(programs(), "postgres"))}; fsync and synchronous_commit on`,

  startServer: async (directory) => {
    const [port, worker] = await Promise.all([freePort(), freePort()])
    const uid = user()
    const data = join(directory, "data")
    mkdirSync(data)
    if (uid !== undefined) chownSync(data, uid, uid)
    const as = uid === undefined ? {} : { uid, gid: uid }
    execFileSync(join(programs(), "initdb"), ["-D", data, "-U", "bench", "-A", "trust"], {
      stdio: "ignore",
      cwd: "/",
      ...as
    })
    const args = ["-D", data, "-p", String(port), "-k", "", "-c", "listen_addresses=127.0.0.1"]
    const settings = ["-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "max_connections=200"]
    const server = await programServer(
      () => [join(programs(), "postgres"), [...args, ...settings]],
      [port],
      { database: `postgresql://bench@127.0.0.1:${port}/bench`, worker: String(worker) },
      { stop: "SIGINT", cwd: "/", ...(uid === undefined ? {} : { uid }) }
    )
    const create = () =>
      execFileSync(join(programs(), "createdb"), ["-h", "127.0.0.1", "-p", String(port), "-U", "bench", "bench"], {
        stdio: "ignore"
      })
    // It listens a moment before it takes connections.
    while (true) {
      try {
        create()
        break
      } catch {
        await pause(50)
      }
    }
    return server
  },

  work: async ({ database, worker }) => {
    const { DBOS } = await import("@dbos-inc/dbos-sdk")
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: database,
      systemDatabasePoolSize: 40,
      runAdminServer: false,
      logLevel: "error",
      applicationVersion: "bench"
    })
    const run = DBOS.registerWorkflow(
      async (chain: Chain) => {
        for (let step = 1; step <= chain.steps; step++)
          await DBOS.runStep(() => doStep(chain, step), { name: `step ${step}` })
      },
      { name: "chain" }
    )
    const parked = DBOS.registerWorkflow(
      async () => {
        await DBOS.setEvent("parked", true)
        await DBOS.recv("answer", 600)
      },
      { name: "question" }
    )
    await DBOS.launch()
    const actions: Readonly<Record<string, (body: Chain) => Promise<unknown>>> = {
      "/run": async (chain) => (await DBOS.startWorkflow(run, { workflowID: chain.id })(chain)).getResult(),
      "/wait": ({ id }) => DBOS.retrieveWorkflow(id).getResult({ pollingIntervalMs: 20 }),
      "/park": async ({ id }) => {
        ends.set(id, (await DBOS.startWorkflow(parked, { workflowID: id })()).getResult())
        await DBOS.getEvent(id, "parked", 60)
      },
      "/answer": async ({ id }) => {
        await DBOS.send(id, "yes", "answer")
        await ends.get(id)
      }
    }
    const ends = new Map<string, Promise<unknown>>()
    createServer((message, response) => {
      let text = ""
      message.on("data", (data) => {
        text += String(data)
      })
      message.on("end", () => {
        actions[message.url ?? ""]?.(JSON.parse(text)).then(
          () => response.end(),
          () => response.writeHead(500).end()
        )
      })
    }).listen(Number(worker), "127.0.0.1")
    await untilListening(Number(worker))
  },

  client: async ({ worker = "" }) => {
    const wait = async (id: string): Promise<void> => {
      while (true) {
        const isDone = await post(worker, "/wait", { id }).then(
          () => true,
          () => false
        )
        if (isDone) return
        await pause(20)
      }
    }
    return {
      run: (chain) => post(worker, "/run", chain).catch(() => wait(chain.id)),
      park: (id) => post(worker, "/park", { id }),
      answer: (id) => post(worker, "/answer", { id })
    }
  }
}
