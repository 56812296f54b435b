import { assert, it } from "@effect/vitest"
import { type PushState, stateOf } from "../src/notices/pushState.ts"

it.each<[PushState, Parameters<typeof stateOf>[0]]>([
  ["unsupported", { isSupported: false, permission: "granted", publicKey: "k", subscribedWith: "k" }],
  ["unavailable", { isSupported: true, permission: "granted", publicKey: undefined, subscribedWith: undefined }],
  ["denied", { isSupported: true, permission: "denied", publicKey: "k", subscribedWith: undefined }],
  ["off", { isSupported: true, permission: "default", publicKey: "k", subscribedWith: undefined }],
  ["off", { isSupported: true, permission: "granted", publicKey: "k", subscribedWith: undefined }],
  ["off", { isSupported: true, permission: "granted", publicKey: "k", subscribedWith: "an earlier key" }],
  ["on", { isSupported: true, permission: "granted", publicKey: "k", subscribedWith: "k" }]
])("telling a browser without a page is %s: %j", (state, known) => {
  assert.strictEqual(stateOf(known), state)
})
