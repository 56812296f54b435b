/** Which IP addresses are servers of the public internet, and not of this machine or its networks. Pure. */
import { BlockList } from "node:net"

/** RFC 6890 and its successors: what is for one machine, one network, or for no single receiver. */
const ownNetworks = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3]
] as const
/** What is in none of these is not used, or leads to an IPv4 address. */
const publicIpv6 = [["2000::", 3]] as const
const tunnels = [
  ["2001::", 23],
  ["2002::", 16]
] as const

const listOf = (networks: ReadonlyArray<readonly [string, number]>, family: "ipv4" | "ipv6"): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, family)
  return list
}

const own = listOf(ownNetworks, "ipv4")
const known = listOf(publicIpv6, "ipv6")
const tunnelled = listOf(tunnels, "ipv6")

export const isPublicAddress = (address: string, family: 4 | 6): boolean =>
  family === 4 ? !own.check(address, "ipv4") : known.check(address, "ipv6") && !tunnelled.check(address, "ipv6")
