/// <reference path="./http_ece.d.ts" />
/** Encrypts a message for one browser (RFC 8291): the push service that passes it on cannot read it. */
import { createECDH } from "node:crypto"
import type { ConsolePushSubscription } from "@reprise/protocol"
import { encrypt } from "http_ece"
import { longestPushBytes } from "../../notify/pushMessage.ts"

/** Whether these are keys with which something can be encrypted. */
export const areKeys = (keys: ConsolePushSubscription["keys"]): boolean => {
  try {
    encryptPush("", keys)
    return true
  } catch {
    return false
  }
}

/** Always as long as the longest, so that its length says nothing. `text`: `longestPushBytes` at most, in UTF-8. */
export const encryptPush = (text: string, { auth, p256dh }: ConsolePushSubscription["keys"]): Buffer => {
  const ephemeral = createECDH("prime256v1")
  ephemeral.generateKeys()
  const plain = Buffer.from(text)
  return encrypt(plain, {
    version: "aes128gcm",
    dh: p256dh,
    privateKey: ephemeral,
    authSecret: auth,
    pad: longestPushBytes - plain.length
  })
}
