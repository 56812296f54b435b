import { createHash } from "node:crypto"

/** The name that git gives a content, in the format of another name (`like`). */
export const hashOfBlob = (content: Buffer, { length }: string): string =>
  createHash(length === 64 ? "sha256" : "sha1")
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest("hex")
