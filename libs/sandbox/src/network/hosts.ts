/** Which names a command may reach, and which name it wants: for the filter before the proxy. Pure. */

export interface Target {
  readonly host: string
  readonly port: number
}

const portOf = (text: string, fallback: number): number | undefined => {
  if (text === "") return fallback
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port > 0 && port < 65_536 ? port : undefined
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.$/, "")

/**
 * What the first line of a request to a proxy asks for: `CONNECT host:port HTTP/1.1`, or a method with a whole address. It is
 * read by the parser that the proxy has, so that both mean the same name. Undefined: it is no such line, or the name holds
 * anything but the letters of a name or an address.
 */
export const targetOf = (line: string): Target | undefined => {
  const [, method = "", target = ""] = /^([A-Z]+) ([!-~]+) HTTP\/1\.[01]$/.exec(line) ?? []
  const isTunnel = method === "CONNECT"
  // Of a tunnel nothing but a name and a port is said; the parser takes a backslash for a slash.
  if (isTunnel ? /[@/\\?#]/.test(target) : !/^https?:\/\/[^\\]*$/i.test(target)) return undefined
  const address = isTunnel ? `https://${target}` : target
  if (!URL.canParse(address)) return undefined
  const { hostname, port, protocol } = new URL(address)
  const found = portOf(port, protocol === "https:" ? 443 : 80)
  return found === undefined || !/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(hostname)
    ? undefined
    : { host: nameOf(hostname), port: found }
}

/** Names as in `sandbox.network`: `example.org`, `*.example.org` for those below it, and each with a `:port`. */
export const mayReach = (names: ReadonlyArray<string>, { host, port }: Target): boolean =>
  names.some((name) => {
    const [, pattern = "", only] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(name) ?? []
    if (only !== undefined && Number(only) !== port) return false
    const wanted = nameOf(pattern)
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted
  })

const localNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Names of this machine with their ports, and the others, which the proxy is for: it lets nothing through to this machine. */
export const splitLocal = (
  names: ReadonlyArray<string>
): { readonly names: ReadonlyArray<string>; readonly ports: ReadonlyArray<number> } => {
  const ports = new Set<number>()
  const others: Array<string> = []
  for (const name of names) {
    const [, host = "", port = ""] = /^(\[.*\]|[^:]*):(\d+)$/.exec(name) ?? []
    if (localNames.has(host.toLowerCase())) ports.add(Number(port))
    else others.push(name)
  }
  return { names: others, ports: [...ports] }
}
