/** BullMQ: a queue of jobs in Redis. A chain is a job for each step, of which each adds the next. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { onPath, packageVersion, programVersion } from "./installed.ts"
import { type Chain, doStep, freePort, type Peer, programServer } from "./Peer.ts"

const server = () => onPath("redis-server") ?? ""
const connection = ({ port }: { readonly port?: string }) => ({
  host: "127.0.0.1",
  port: Number(port),
  maxRetriesPerRequest: null,
  retryStrategy: () => 50
})
const queueName = "steps"

export const bullmq: Peer = {
  name: "bullmq",
  canPark: false,
  hasEffects: true,
  missing: () => (onPath("redis-server") === undefined ? "there is no Redis on this machine" : undefined),
  describe: () =>
    `BullMQ ${packageVersion("bullmq")} with ioredis ${packageVersion("ioredis")} and Redis ${programVersion(server())}; appendfsync always; a lock of a job is 5 s long and looked at every 5 s`,

  startServer: async (directory) => {
    const port = await freePort()
    const data = join(directory, "data")
    mkdirSync(data)
    const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", data, "--save", ""]
    const durable = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]
    return programServer(() => [server(), [...args, ...durable]], [port], { port: String(port) }, { stop: "SIGTERM" })
  },

  work: async (address) => {
    const { Queue, Worker } = await import("bullmq")
    const queue = new Queue(queueName, { connection: connection(address) })
    const worker = new Worker(
      queueName,
      async ({ data: { chain, step } }: { data: { chain: Chain; step: number } }) => {
        const result = await doStep(chain, step)
        if (step < chain.steps) await queue.add("step", { chain, step: step + 1 }, { jobId: `${chain.id}-${step + 1}` })
        return result
      },
      {
        connection: connection(address),
        concurrency: 64,
        lockDuration: 5_000,
        stalledInterval: 5_000,
        maxStalledCount: 10
      }
    )
    worker.on("error", () => {})
    queue.on("error", () => {})
    await worker.waitUntilReady()
  },

  client: async (address) => {
    const { Queue, QueueEvents } = await import("bullmq")
    const queue = new Queue(queueName, { connection: connection(address) })
    const events = new QueueEvents(queueName, { connection: connection(address) })
    queue.on("error", () => {})
    events.on("error", () => {})
    await events.waitUntilReady()
    const waiting = new Map<string, () => void>()
    events.on("completed", ({ jobId }: { jobId: string }) => waiting.get(jobId)?.())
    return {
      run: async (chain) => {
        const last = new Promise<void>((resolve) => waiting.set(`${chain.id}-${chain.steps}`, resolve))
        await queue.add("step", { chain, step: 1 }, { jobId: `${chain.id}-1` })
        await last
      }
    }
  }
}
