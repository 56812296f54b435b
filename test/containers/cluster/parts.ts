/** The containers of a cluster: three NATS servers, two of each service, and two hosts with an agent each. */
import type { ServiceName } from "@reprise/protocol"
import { openCodeConfig } from "@reprise/scripted-model"
import type { ContainerSpec } from "./containers.ts"
import { type ClusterKeys, loginOf, type Volumes } from "./credentials.ts"
import type { ClusterImages } from "./images.ts"
import { natsPart, natsServers, natsUrl, natsVolumes } from "./natsServers.ts"

/** What a container is, and on which answer of its it is ready. */
export interface Part {
  readonly spec: ContainerSpec
  readonly kind: "nats" | "service" | "host" | "agent"
  /** The image of the next release; NATS and the agent's OpenCode stay the same. */
  readonly next: string
  readonly health: { readonly port: number; readonly path: string; readonly login?: string }
  /** How long it may take to end on SIGTERM. */
  readonly graceSeconds: number
  /** Runs in the container before SIGTERM. */
  readonly preStop?: ReadonlyArray<string>
}

/** Two of those that the accounts name. */
const hosts = ["reprise-host-1", "reprise-host-2"] as const

const healthPort = 8080
const agentPort = 4096
const password = "scripted"

/** As Kubernetes gives a pod that asks for nothing else. */
const graceSeconds = 30

/** What a host's volume holds before anything runs. */
export const filesOfHost = {
  ".gitconfig": "[user]\n\tname = Author\n\temail = author@reprise.invalid\n[safe]\n\tdirectory = *\n",
  // Without it OpenCode would install its plugin package from the network.
  "config/opencode/package-lock.json": '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}',
  "config/opencode/node_modules/none": "",
  "models.json": "{}"
}

/** Besides those with keys. */
export const volumes: Volumes = {
  remote: {},
  person: filesOfHost,
  ...Object.fromEntries(hosts.map((host) => [host, filesOfHost])),
  ...natsVolumes
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

/** What everybody needs to be told who uses the cluster. */
export const clientEnvironment = {
  REPRISE_NATS_URL: natsUrl,
  REPRISE_NATS_REPLICAS: "3",
  REPRISE_PERMISSIONS: "all",
  REPRISE_SANDBOX_MODE: "off"
}

/** Makes the parts. `modelUrl` is the model's address in an agent's container. */
export const partsOf = (
  images: ClusterImages,
  { publicKeys }: Pick<ClusterKeys, "publicKeys">,
  modelUrl: string
): ReadonlyArray<Part> => {
  const health = { port: healthPort, path: "/readyz" }
  const runs = (service: ServiceName) => {
    const { environment, files } = loginOf(service)
    return {
      command: ["serve", service],
      environment: { ...clientEnvironment, ...environment, REPRISE_HEALTH_ADDRESS: `0.0.0.0:${healthPort}` },
      files
    }
  }
  const deciders = (["orchestrator", "reviewer", "gate"] as const).flatMap((service, row) =>
    [1, 2].map(
      (replica): Part => ({
        kind: "service",
        next: images.service.next,
        health,
        graceSeconds,
        spec: {
          ...runs(service),
          name: `${service}-${replica}`,
          image: images.service.now,
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
    const of = (service: ServiceName, address: number, more: Readonly<Record<string, string>>): Part => ({
      kind: "host",
      next: images.host.next,
      health,
      graceSeconds,
      spec: {
        ...own,
        ...runs(service),
        name: `${service}-${n + 1}`,
        environment: { ...runs(service).environment, REPRISE_HOST: host, ...more },
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
        graceSeconds,
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
  return [...natsServers.map((name) => natsPart(name, images.nats, publicKeys)), ...deciders, ...workers]
}
