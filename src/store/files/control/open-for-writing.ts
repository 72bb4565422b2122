/**
 * Asks the kernel for a read lease (fcntl(2), F_SETLEASE), which it refuses with EAGAIN (11) while any process of any namespace
 * has the file open for writing. Node cannot ask. Exits with 0: open nowhere, 1: open, 2 or more: not known.
 */
const probe = `
  $SIG{IO} = 'IGNORE';
  open(my $file, '<', $ARGV[0]) or exit 3;
  exit 0 if fcntl($file, 1024, 0);
  exit($! == 11 ? 1 : 2);
`;

/** Whether any process of this kernel has a file open for writing; null where that cannot be found out, or without Perl. */
export async function isOpenForWriting(path: string): Promise<boolean | null> {
  if (process.platform !== 'linux') return null;
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const child = spawn('perl', ['-e', probe, path], { stdio: 'ignore' });
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code === 0 ? false : code === 1 ? true : null));
  });
}
