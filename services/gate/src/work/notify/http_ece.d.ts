declare module "http_ece" {
  import type { ECDH } from "node:crypto"
  /** Texts are base64url. */
  export const encrypt: (
    plain: Buffer,
    options: {
      readonly version: "aes128gcm"
      readonly dh: string
      readonly privateKey: ECDH
      readonly authSecret: string
      readonly pad: number
    }
  ) => Buffer
}
