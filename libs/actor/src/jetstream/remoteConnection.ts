/** How to reach a broker that others run. */
import { type Credentials, type Identity, inboxOf, Nats, type NatsOptions } from "@reprise/nats"
import { Redacted } from "effect"

export interface RemoteSettings {
  /** `nats://host:port`; user and password may stand before the host. Several servers of a cluster: with commas between. */
  readonly url: string
  /** Path of a `.creds` file. */
  readonly credentials?: string
  /** Path of a file with the seed of an nkey. */
  readonly seedFile?: string
  /** Path of the certificate of whoever signed the server's. Default: those that Node knows. */
  readonly caFile?: string
  /** Shown in the server's list of connections. */
  readonly name: string
  readonly identity: Identity
}

interface Address {
  readonly url: string
  readonly credentials: Credentials
}

/** User and password from an address, and the address without them. */
const readAddress = (url: string): Address => {
  const anonymous = { url, credentials: { _tag: "Anonymous" } } as const
  if (!URL.canParse(url)) return anonymous
  const address = new URL(url)
  if (address.username === "") return anonymous
  const user = decodeURIComponent(address.username)
  const password = Redacted.make(decodeURIComponent(address.password))
  address.username = ""
  address.password = ""
  return { url: address.toString().replace(/\/$/, ""), credentials: { _tag: "UserPassword", user, password } }
}

const credentialsOf = ({ credentials, seedFile }: RemoteSettings, first: Address | undefined): Credentials => {
  if (seedFile !== undefined) return { _tag: "SeedFile", path: seedFile }
  if (credentials !== undefined) return { _tag: "CredsFile", path: credentials }
  return first?.credentials ?? { _tag: "Anonymous" }
}

/** Who connects, and where: by a file, or by user and password from the first address. */
export const remoteOptions = (settings: RemoteSettings): NatsOptions => {
  const { caFile, identity, name, url } = settings
  const addresses = url.split(",").map((one) => readAddress(one.trim()))
  return {
    url: addresses.map((one) => one.url),
    credentials: credentialsOf(settings, addresses[0]),
    name,
    identity,
    inboxPrefix: inboxOf(identity),
    ...(caFile === undefined ? {} : { tls: { caFile } })
  }
}

/** A connection to a broker that others run. Reconnects by itself. */
export const remoteConnection = (settings: RemoteSettings) => Nats.layer(remoteOptions(settings))
