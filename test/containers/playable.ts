/** The overlay `local` as `podman play kube` takes it, which stands in for a cluster. Pure. */
import { at, list, ofKind } from "../deploy/manifests.ts"

export interface Surroundings {
  /** The engine has one space of names for everybody on this machine. */
  readonly suffix: string
  /** For `reprise` and for `reprise-host`. */
  readonly images: { readonly service: string; readonly host: string }
  /** A free port of this machine for each container by its name: pods have no addresses of their own here. */
  readonly ports: Readonly<Record<string, number>>
  /** What the cluster's Secrets hold: podman 4.3 cannot read them from its own store. */
  readonly secrets: {
    readonly natsUrl: string
    readonly password: string
    readonly models: Readonly<Record<string, string>>
  }
}

type Table = Record<string, unknown>

/** The containers of the overlay, by their names. */
export const containerNames = (manifests: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  ofKind(manifests, "Deployment", "StatefulSet").flatMap((one) =>
    list(at(one, "spec", "template", "spec", "containers")).map((part) => String(at(part, "name")))
  )

/** What a manifest says for port 4096 is said for the port that the agent has here. */
const withAgentPort = (value: unknown, port: number | undefined) =>
  JSON.parse(JSON.stringify(value).replaceAll(/\b4096\b/g, String(port)))

/** How a container is asked whether it is ready. The agent's own question is whether it has started. */
export interface Question {
  readonly name: string
  readonly url?: string
  readonly command?: ReadonlyArray<string>
}

/** The manifest's own questions: probes run only where systemd has timers, so a test asks them. */
export const questionsOf = (manifests: ReadonlyArray<unknown>, { ports }: Surroundings): ReadonlyArray<Question> =>
  ofKind(manifests, "Deployment", "StatefulSet").flatMap((one) =>
    list(at(one, "spec", "template", "spec", "containers")).map((part): Question => {
      const name = String(at(part, "name"))
      const path = at(part, "readinessProbe", "httpGet", "path")
      return path === undefined
        ? {
            name,
            command: list(withAgentPort(at(part, "startupProbe", "exec", "command"), ports["agent"])).map(String)
          }
        : { name, url: `http://127.0.0.1:${ports[name]}${path}` }
    })
  )

const adaptContainer = (part: unknown, { images, ports, secrets }: Surroundings): Table => {
  const name = String(at(part, "name"))
  const values: Readonly<Record<string, string>> = {
    REPRISE_NATS_URL: secrets.natsUrl,
    REPRISE_HEALTH_ADDRESS: `127.0.0.1:${ports[name]}`,
    OPENCODE_SERVER_PASSWORD: secrets.password
  }
  const environment = list(at(part, "env")).map((variable) => {
    const value = values[String(at(variable, "name"))]
    return value === undefined ? variable : { name: at(variable, "name"), value }
  })
  const models = Object.entries(name === "agent" ? secrets.models : {}).map(([key, value]) => ({ name: key, value }))
  const copy: Table = {
    ...withAgentPort({ ...Object(part), env: environment }, ports["agent"]),
    image: String(at(part, "image"))
      .replace(/^localhost\/reprise-host:latest$/, images.host)
      .replace(/^localhost\/reprise:latest$/, images.service),
    envFrom: list(at(part, "envFrom")).filter((source) => at(source, "secretRef") === undefined),
    volumeMounts: list(at(part, "volumeMounts")).filter((mount) => at(mount, "name") !== "git")
  }
  copy["env"] = [...list(copy["env"]), ...models]
  for (const field of ["ports", "startupProbe", "readinessProbe", "livenessProbe"]) delete copy[field]
  return copy
}

const adaptPod = (pod: unknown, around: Surroundings, volumes: ReadonlyArray<unknown>): Table => ({
  ...Object(pod),
  hostNetwork: true,
  containers: list(at(pod, "containers")).map((part) => adaptContainer(part, around)),
  volumes: [...list(at(pod, "volumes")).filter((volume) => at(volume, "name") !== "git"), ...volumes]
})

/** The volume of the host's only pod. */
export const hostVolume = ({ suffix }: Surroundings): string => `workspace-reprise-host-0${suffix}`

/** A Deployment stays one. podman knows no StatefulSet, so its first pod is a pod with the names that it would have. */
export const playable = (manifests: ReadonlyArray<unknown>, around: Surroundings): ReadonlyArray<unknown> => [
  ...ofKind(manifests, "ConfigMap"),
  ...ofKind(manifests, "Deployment").map((one) => {
    const copy = structuredClone(Object(one))
    copy.metadata.name += around.suffix
    copy.spec.template.spec = adaptPod(copy.spec.template.spec, around, [])
    return copy
  }),
  ...ofKind(manifests, "StatefulSet").map((one) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${at(one, "metadata", "name")}-0${around.suffix}`,
      labels: at(one, "spec", "template", "metadata", "labels")
    },
    spec: adaptPod(
      at(one, "spec", "template", "spec"),
      around,
      list(at(one, "spec", "volumeClaimTemplates")).map((claim) => ({
        name: at(claim, "metadata", "name"),
        persistentVolumeClaim: { claimName: hostVolume(around) }
      }))
    )
  }))
]
