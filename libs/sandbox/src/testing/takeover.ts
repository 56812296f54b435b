/**
 * For tests: a command takes over the first process of its namespace as a debugger does, and takes away from it that it ends
 * with its parent. In Perl, which each Debian has; on x86_64 alone, and only where the system lets programs debug others of
 * their user.
 */

/** Perl: has the other call `prctl` and `close`, as by a debugger, then go on waiting for its children with `wait4`. */
const attach = String.raw`
  sub trace { syscall(101, @_) }
  sub waited { my $how = pack("i", 0); syscall(61, 1, $how, 0x40000000, 0) }
  my $words = "\0" x 216;
  trace(16, 1, 0, 0) == 0 or die "attach: $!\n";
  waited(); trace(12, 1, 0, $words);
  my @was = unpack("q27", $words);
  my $name = ($was[19] - 512) & ~7;
  trace(5, 1, $name, unpack("q", "b) Z b\0\0"));
  sub set { my @now = @was; @now[10, 14, 13, 12, 7, 9, 16, 15] = (@_, 0, 0, 0, $was[16] - 2, -1);
    my $new = pack("q27", @now); trace(13, 1, 0, $new) }
  sub run { set(@_); trace(9, 1, 0, 0); waited() }
  run(157, 1, 0); run(157, 15, $name); run(3, $_, 0) for 0, 1, 2;
  set(61, @was[14, 13]); trace(17, 1, 0, 0);
  print "taken over\n";
`

/** Shell text. Outside of a sandbox it does nothing: the first process there is the machine's. */
export const takeover = `[ "$REPRISE_SANDBOX" = 1 ] && perl -e '${attach}'`
