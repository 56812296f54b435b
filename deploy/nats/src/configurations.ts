/** The configurations of servers that hold the accounts of Reprise, each from the table of permissions in `libs/nats`. */
import { readFileSync, writeFileSync } from "node:fs"
import { accountsConfig } from "@reprise/nats"
import { Host } from "@reprise/protocol"

const root = new URL("../../../", import.meta.url)

/** Of the StatefulSet, and of a host without a name of its own. */
const clusterHosts = ["local", ...Array.from({ length: 10 }, (_, index) => `reprise-host-${index}`)].map((name) =>
  Host.make(name)
)

const cluster = { prefix: "reprise", hosts: clusterHosts }

const heading = `# Who may do what on the NATS servers. Made from the table of permissions by 'npm run accounts': change that, not this.
# The public keys come from the environment; deploy/nats makes the keys.
`

interface Configuration {
  /** From the root of the repository. */
  readonly path: string
  readonly expected: string
}

export const configurations: ReadonlyArray<Configuration> = [
  {
    path: "deploy/kubernetes/overlays/nats/accounts.conf",
    expected: `${heading}${accountsConfig(cluster, "nkey")}`
  }
]

/** What is in the repository, and what should be. */
export const compare = ({ expected, path }: Configuration) => {
  const url = new URL(path, root)
  let found = ""
  try {
    found = readFileSync(url, "utf8")
  } catch {
    // It is made.
  }
  return { found, expected, write: (text: string) => writeFileSync(url, text) }
}
