/** The settings of notifications, for the command line. As `@reprise/gate/notifications`. */
export { ChannelTable, channelLine } from "./notify/ChannelSettings.ts"
export { QuietHours } from "./notify/quietHours.ts"
