/** The containers of a cluster: three NATS servers, two of each service, and two hosts with an agent each. */
import { openCodeConfig } from "@reprise/scripted-model"
import type { ContainerSpec } from "./containers.ts"
import type { ClusterImages } from "./images.ts"

/** What a container is, and on which answer of its it is ready. */
export interface Part {
  readonly spec: ContainerSpec
  readonly kind: "nats" | "service" | "host" | "agent"
  /** The image of the next release; NATS and the agent's OpenCode stay the same. */
  readonly next: string
  readonly health: { readonly port: number; readonly path: string; readonly login?: string }
}

export const natsServers = ["nats-1", "nats-2", "nats-3"] as const
const natsAddress = (name: string) => 10 + Number(name.at(-1))
export const hosts = ["host-1", "host-2"] as const

const healthPort = 8080
const agentPort = 4096
const password = "scripted"

const natsConfig = (name: string) => `
server_name: ${name}
port: 4222
http_port: 8222
max_payload: 1MB
jetstream { store_dir: /data, max_file_store: 4GB, max_memory_store: 64MB, sync_interval: always }
cluster {
  name: reprise
  port: 6222
  no_advertise: true
  routes: [${natsServers.map((one) => `nats://${one}:6222`).join(", ")}]
}
`

/** What a host's volume holds before anything runs. */
export const filesOfHost = {
  ".gitconfig": "[user]\n\tname = Author\n\temail = author@reprise.invalid\n[safe]\n\tdirectory = *\n",
  // Without it OpenCode would install its plugin package from the network.
  "config/opencode/package-lock.json": '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}',
  "config/opencode/node_modules/none": "",
  "models.json": "{}"
}

/** The volumes by their names, each with the files that it holds before anything runs. */
export const volumes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  remote: {},
  person: filesOfHost,
  ...Object.fromEntries(hosts.map((host) => [host, filesOfHost])),
  ...Object.fromEntries(natsServers.map((name) => [name, { "nats.conf": natsConfig(name) }]))
}

/** An OpenCode whose only model is the scripted one, with its state in the host's volume. */
export const scriptedAgent = (modelUrl: string) => ({
  OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(modelUrl)),
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_MODELS_PATH: "/workspace/models.json",
  BUN_JSC_useFTLJIT: "0",
  XDG_DATA_HOME: "/workspace/data",
  XDG_CONFIG_HOME: "/workspace/config",
  XDG_CACHE_HOME: "/workspace/cache",
  XDG_STATE_HOME: "/workspace/state"
})

const nats = (name: string, { nats: image }: ClusterImages): Part => ({
  kind: "nats",
  next: image,
  health: { port: 8222, path: "/healthz" },
  spec: {
    name,
    image,
    entrypoint: ["/nats-server"],
    command: ["-c", "/data/nats.conf"],
    address: natsAddress(name),
    volumes: { "/data": name }
  }
})

/** What everybody needs to be told who uses the cluster. */
export const clientEnvironment = (ipOf: (address: number) => string) => ({
  REPRISE_NATS_URL: natsServers.map((name) => `nats://${ipOf(natsAddress(name))}:4222`).join(","),
  REPRISE_NATS_REPLICAS: "3",
  REPRISE_PERMISSIONS: "all",
  REPRISE_SANDBOX_MODE: "off"
})

/** Makes the parts. `modelUrl` is the model's address in an agent's container. */
export const partsOf = (
  images: ClusterImages,
  ipOf: (address: number) => string,
  modelUrl: string
): ReadonlyArray<Part> => {
  const health = { port: healthPort, path: "/readyz" }
  const environment = { ...clientEnvironment(ipOf), REPRISE_HEALTH_ADDRESS: `0.0.0.0:${healthPort}` }
  const deciders = ["orchestrator", "reviewer", "gate"].flatMap((service, row) =>
    [1, 2].map(
      (replica): Part => ({
        kind: "service",
        next: images.service.next,
        health,
        spec: {
          name: `${service}-${replica}`,
          image: images.service.now,
          command: ["serve", service],
          environment,
          address: 20 + 10 * row + replica
        }
      })
    )
  )
  const workers = hosts.flatMap((host, n): ReadonlyArray<Part> => {
    const own = {
      image: images.host.now,
      directory: "/workspace",
      volumes: { "/workspace": host, "/remote": "remote" }
    }
    const of = (service: string, address: number, more: Readonly<Record<string, string>>): Part => ({
      kind: "host",
      next: images.host.next,
      health,
      spec: {
        ...own,
        name: `${service}-${n + 1}`,
        command: ["serve", service],
        environment: { ...environment, REPRISE_HOST: host, ...more },
        address
      }
    })
    const sessions = of("session-manager", 60 + n, {
      REPRISE_OPENCODE_URL: `http://agent-${n + 1}:${agentPort}`,
      OPENCODE_SERVER_PASSWORD: password
    })
    return [
      {
        kind: "agent",
        health: { port: agentPort, path: "/global/health", login: `opencode:${password}` },
        next: images.host.next,
        spec: {
          ...own,
          name: `agent-${n + 1}`,
          entrypoint: ["opencode"],
          command: ["serve", "--hostname", "0.0.0.0", "--port", String(agentPort)],
          outside: true,
          environment: {
            OPENCODE_SERVER_PASSWORD: password,
            ...scriptedAgent(modelUrl)
          }
        }
      },
      { ...sessions, spec: { ...sessions.spec, outside: true } },
      of("workspace", 50 + n, {})
    ]
  })
  return [...natsServers.map((name) => nats(name, images)), ...deciders, ...workers]
}
