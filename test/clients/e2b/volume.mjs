// Uses the files of a volume with one published version of the npm package `e2b`, named by the argument, as its documentation
// does: without a sandbox, and together with one that mounts the volume. Prints each step.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, version] = process.argv.slice(2);
const packages = createRequire(join(folder, 'package.json'));
const { Sandbox, Volume } = await import(pathToFileURL(packages.resolve(`e2b-${version}`)).href);

function expect(what, is) {
  if (!is) throw new Error(`${version}: ${what}`);
  console.log(what);
}

const refusal = (promise) =>
  promise.then(
    () => null,
    (error) => error,
  );

const volume = await Volume.create(`npm-${version.replaceAll('.', '-')}`);
try {
  const written = await volume.writeFile('/hello.txt', 'hello', { uid: 1000, gid: 1000, mode: 0o640 });
  expect('writes a file', written.size === 5 && written.uid === 1000 && written.mode === 0o640);
  expect('reads text', (await volume.readFile('/hello.txt')) === 'hello');
  const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251);
  await volume.writeFile('/large', new Blob([bytes]).stream());
  const stream = await volume.readFile('/large', { format: 'stream' });
  expect('streams both ways', Buffer.from(await new Response(stream).arrayBuffer()).equals(Buffer.from(bytes)));
  await volume.makeDir('/a/b', { force: true });
  const paths = (await volume.list('/', { depth: 2 })).map(({ path }) => path);
  expect('lists folders', paths.join() === '/a,/a/b,/hello.txt,/large');
  const changed = await volume.updateMetadata('/hello.txt', { mode: 0o600 });
  expect('changes metadata', changed.mode === 0o600 && changed.mtime instanceof Date);
  const missing = await refusal(volume.readFile('/none'));
  expect('reports a missing path', missing !== null);
  expect('knows what exists', (await volume.exists('/large')) && !(await volume.exists('/none')));
  expect('refuses to overwrite', (await refusal(volume.writeFile('/large', '', { force: false }))) !== null);

  const sandbox = await Sandbox.create('busybox', { timeoutMs: 120_000, volumeMounts: { '/data': volume } });
  await sandbox.commands.run('cat /data/large > /data/copy; ln -s /etc/passwd /data/link');
  expect('shares files with a sandbox', (await volume.getInfo('/copy')).size === bytes.length);
  await volume.writeFile('/from-sdk', 'while it runs');
  expect('writes beside a sandbox', (await sandbox.files.read('/data/from-sdk')) === 'while it runs');
  for (const path of ['/link', '/../etc/passwd', '/proc/self/environ']) {
    expect(`keeps ${path} inside`, (await refusal(volume.readFile(path))) !== null);
  }
  await sandbox.kill();
  const again = await Volume.connect(volume.volumeId);
  await again.remove('/a');
  expect('removes a folder', !(await again.exists('/a')));
} finally {
  expect('destroys', await Volume.destroy(volume.volumeId));
}
