/** The NATS servers of a cluster, as the manifests of deploy/kubernetes/overlays/nats run them. */
import { readFileSync } from "node:fs"
import { at, list, ofKind, parse } from "../../deploy/manifests.ts"
import type { Volumes } from "./credentials.ts"
import type { Part } from "./parts.ts"

const read = (name: string) =>
  readFileSync(new URL(`../../../deploy/kubernetes/overlays/nats/${name}`, import.meta.url), "utf8")
const texts = (value: unknown) => list(value).map(String)

const [pod] = ofKind(parse(read("nats.yaml")), "StatefulSet").map((one) => at(one, "spec", "template", "spec"))
const container = at(pod, "containers", 0)

/** The literals of a ConfigMap that kustomize makes. */
const literals = texts(at(parse(read("kustomization.yaml"))[0], "configMapGenerator", 1, "literals"))
const addresses = Object.fromEntries(literals.map((line) => line.split("=", 2) as [string, string]))
const routes = addresses["NATS_ROUTES"] ?? ""

/** Where a client finds one of them. */
export const natsUrl = "nats://nats:4222"

export const natsServers = [...routes.matchAll(/\/\/(nats-\d)\.nats-servers:/g)].map(([, name = ""]) => name)

export const natsAddress = (name: string) => 10 + Number(name.at(-1))

/** The image is the program alone, which is in its root. */
const program = "/nats-server"

const constants = Object.fromEntries(
  list(at(container, "env")).flatMap((one) =>
    at(one, "value") === undefined ? [] : [[String(at(one, "name")), String(at(one, "value"))] as const]
  )
)

export const natsVolumes: Volumes = {
  ...Object.fromEntries(natsServers.map((name) => [name, {}])),
  "nats-configuration": { "nats.conf": read("nats.conf"), "accounts.conf": read("accounts.conf") }
}

export const natsPart = (name: string, image: string, publicKeys: Readonly<Record<string, string>>): Part => ({
  kind: "nats",
  next: image,
  health: { port: 8222, path: String(at(container, "startupProbe", "httpGet", "path")) },
  graceSeconds: Number(at(pod, "terminationGracePeriodSeconds")),
  preStop: [program, ...texts(at(container, "lifecycle", "preStop", "exec", "command")).slice(1)],
  spec: {
    name,
    image,
    entrypoint: [program],
    command: texts(at(container, "args")).map((one) => one.replace("$(NATS_ROUTES)", routes)),
    environment: { ...constants, ...publicKeys, POD_NAME: name },
    address: natsAddress(name),
    // Of the two services.
    aliases: ["nats", `${name}.nats-servers`],
    volumes: { "/data": name },
    files: { "/etc/nats": "nats-configuration", "/etc/nats-tls": "nats-tls" },
    scratch: ["/run/nats"]
  }
})
