import type { PublicEvent } from "@reprise/protocol"

/**
 * `{"type","time","id","runId",…payload}` (protocol: The command line). The type is the event's: a checkpoint's own is
 * its `checkpointType` here.
 */
export const publicJson = ({ _tag, ...payload }: PublicEvent, { id, time }: { id: string; time: string }) => {
  const line = { type: _tag, time, id }
  return { ...line, ...payload, ...line, ...("type" in payload ? { checkpointType: payload.type } : {}) }
}
