/** The images of a cluster: NATS, Reprise for services, and Reprise for hosts, whose base has git, OpenCode and a shell. */
import { execFileSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, dirname, join } from "node:path"
import { serverImage } from "@reprise/testing"
import { Effect } from "effect"
import { buildBase, buildReprise, engineClient, nodeBase, packageFolder } from "../repriseImage.ts"

/** What agents and git use. */
const tools = "bash cat cp date dirname env grep head ls mkdir mv rm sed sh sleep sort tail touch tr uname wc".split(
  " "
)

const onPath = (name: string): string => {
  const found = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name))
  return realpathSync(found.find((path) => existsSync(path)) ?? name)
}

/** The base of hosts: git, OpenCode and a shell. */
export const hostBase = Effect.suspend(() => {
  const opencode = createRequire(import.meta.url).resolve("opencode-ai/package.json")
  const programs = {
    "/usr/local/bin/node": process.execPath,
    "/usr/local/bin/opencode": realpathSync(join(dirname(opencode), "bin/opencode.exe")),
    "/usr/bin/git": onPath("git"),
    ...Object.fromEntries(tools.map((name) => [`/bin/${name}`, onPath(name)]))
  }
  const folder = execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim()
  return buildBase("host-base", programs, [folder])
})

export interface ClusterImages {
  readonly nats: string
  /** The release that runs, and the next one, which differs in its name. */
  readonly service: Release
  readonly host: Release
}

interface Release {
  readonly now: string
  readonly next: string
}

/** Built from one package. The bases and NATS are kept for the next time. */
export const clusterImages = Effect.gen(function* () {
  const client = yield* engineClient
  const folder = yield* packageFolder
  const release = Effect.fnUntraced(function* (kind: string, base: string) {
    const name = `localhost/reprise-test-${kind}:${process.pid}`
    const next = `${name}-next`
    yield* buildReprise(client, folder, base, name)
    const { dockerode } = client.container
    yield* Effect.acquireRelease(
      Effect.promise(() =>
        dockerode.getImage(name).tag({ repo: `localhost/reprise-test-${kind}`, tag: `${process.pid}-next` })
      ),
      () => Effect.promise(() => dockerode.getImage(next).remove({ force: true }))
    )
    return { now: name, next }
  })
  return {
    nats: (yield* serverImage(client)).name,
    service: yield* release("service", yield* nodeBase),
    host: yield* release("host", yield* hostBase)
  } satisfies ClusterImages
})
