import { assert, describe, it } from "@effect/vitest"
import { librariesIn } from "../src/containers/programImage.ts"

describe("librariesIn", () => {
  it("finds the paths of shared libraries and of the loader, and none for a static program", () => {
    const listing = [
      "\tlinux-vdso.so.1 (0x00007f1a7d537000)",
      "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1a7d344000)",
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f1a7d539000)"
    ].join("\n")
    assert.deepStrictEqual(librariesIn(listing), ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"])
    assert.deepStrictEqual(librariesIn("\tstatically linked\n"), [])
  })
})
