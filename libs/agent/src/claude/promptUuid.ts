/** The uuid that Claude knows a prompt by. Pure: the same for the same prompt, in every process. */
import { createHash } from "node:crypto"

/**
 * @param messageId the prompt's own id, as `promptIds` makes it
 * @param n 0 for the prompt itself; 1, 2, … for the continuations after its turn was cut off
 * @returns a uuid of version 8: a hash, with the version's and the variant's bits set
 */
export const promptUuid = (messageId: string, n: number): string => {
  const bytes = createHash("sha256").update(`reprise ${n} ${messageId}`).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
