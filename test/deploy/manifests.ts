/** The manifests of deploy/kubernetes as kustomize renders them, and a way to look into them. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Effect } from "effect"
import { parseAllDocuments } from "yaml"

const run = promisify(execFile)

const folder = new URL("../../deploy/kubernetes", import.meta.url).pathname
const folders = {
  local: `${folder}/overlays/local`,
  production: `${folder}/overlays/production`,
  console: `${folder}/overlays/console`,
  nats: `${folder}/overlays/nats`,
  /** Production with the components that scale by a metric. */
  keda: new URL("fixtures/keda", import.meta.url).pathname
} as const
export type Overlay = keyof typeof folders
export const overlays = ["local", "production", "console", "nats", "keda"] as const satisfies ReadonlyArray<Overlay>

/** The value at a path of keys and indexes; undefined where there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === "object" && found !== null && Object.hasOwn(found, key)
        ? Object.getOwnPropertyDescriptor(found, key)?.value
        : undefined,
    value
  )

export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** `Deployment reprise-gate`. */
export const title = (manifest: unknown): string => `${at(manifest, "kind")} ${at(manifest, "metadata", "name")}`

export const ofKind = (manifests: ReadonlyArray<unknown>, ...kinds: ReadonlyArray<string>) =>
  manifests.filter((manifest) => kinds.includes(String(at(manifest, "kind"))))

export const parse = (text: string): ReadonlyArray<unknown> =>
  parseAllDocuments(text).map((document) => document.toJS())

const rendered = new Map<Overlay, Promise<ReadonlyArray<unknown>>>()

/** What `kubectl apply --kustomize` would send, rendered once for each process. Whoever changes it changes a copy. */
export const render = (overlay: Overlay) =>
  Effect.promise(() => {
    const known =
      rendered.get(overlay) ?? run("kubectl", ["kustomize", folders[overlay]]).then(({ stdout }) => parse(stdout))
    rendered.set(overlay, known)
    return known
  })

/** Whether kubectl is installed. Prints that the tests are skipped when it is not. */
export const hasKubectl: Effect.Effect<boolean> = Effect.promise(() =>
  run("kubectl", ["kustomize", "--help"]).then(
    () => true,
    () => {
      process.stdout.write("manifest tests: skipped, no kubectl\n")
      return false
    }
  )
)

/** The names of the workloads, to see that none is missing. */
export const workloadNames = (manifests: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  ofKind(list(manifests), "Deployment", "StatefulSet").map(title).sort()
