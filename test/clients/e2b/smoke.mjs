// Uses one published version of the npm package `e2b`, named by the argument, as its documentation does. Prints each step.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, version] = process.argv.slice(2);
const packages = createRequire(join(folder, 'package.json'));
const { Sandbox } = await import(pathToFileURL(packages.resolve(`e2b-${version}`)).href);

function expect(what, is) {
  if (!is) throw new Error(`${version}: ${what}`);
  console.log(what);
}

async function until(what, isSo) {
  const deadline = performance.now() + 15_000;
  while (!(await isSo()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(what, await isSo());
}

const metadata = { smoke: `npm-${version}` };
const sandbox = await Sandbox.create('busybox', { timeoutMs: 120_000, metadata, envs: { FROM_SANDBOX: 'yes' } });
try {
  const foreground = await sandbox.commands.run('echo "$FROM_SANDBOX $OWN"; id -un', { envs: { OWN: 'too' } });
  expect('runs a command', foreground.exitCode === 0 && foreground.stdout === 'yes too\nuser\n');
  const failed = await sandbox.commands.run('echo no >&2; exit 3').catch((error) => error);
  expect('reports a failure', failed.exitCode === 3 && failed.stderr === 'no\n');

  let streamed = '';
  const background = await sandbox.commands.run('while read line; do echo "got $line"; done', {
    background: true,
    stdin: true,
    onStdout: (text) => void (streamed += text),
  });
  await sandbox.commands.sendStdin(background.pid, 'one\n');
  await until('streams output and takes input', () => streamed === 'got one\n');
  const listed = await sandbox.commands.list();
  expect(
    'lists the command',
    listed.some(({ pid }) => pid === background.pid),
  );
  await background.kill();
  await background.wait().catch(() => undefined);

  const changes = [];
  await sandbox.files.makeDir('notes');
  const watch = await sandbox.files.watchDir('notes', ({ name, type }) => void changes.push(`${type} ${name}`));
  await sandbox.files.write('notes/today.txt', 'remember');
  await until('watches a folder', () => changes.includes('write today.txt'));
  await watch.stop();
  expect('reads a file', (await sandbox.files.read('notes/today.txt')) === 'remember');
  expect('lists a folder', (await sandbox.files.list('notes')).map(({ name }) => name).join() === 'today.txt');

  const download = await fetch(await sandbox.downloadUrl('notes/today.txt', { useSignatureExpiration: 60 }));
  expect('downloads by a signed URL', (await download.text()) === 'remember');
  const form = new FormData();
  form.append('file', new Blob(['uploaded']), 'sent.txt');
  const upload = await fetch(await sandbox.uploadUrl('sent.txt'), { method: 'POST', body: form });
  expect('uploads by a signed URL', upload.ok && (await sandbox.files.read('sent.txt')) === 'uploaded');

  const { endAt: before } = await sandbox.getInfo();
  await sandbox.setTimeout(600_000);
  expect('changes the timeout', (await sandbox.getInfo()).endAt > before);
  const mine = await Sandbox.list({ query: { metadata } }).nextItems();
  expect('lists by metadata', mine.map(({ sandboxId }) => sandboxId).join() === sandbox.sandboxId);

  await (sandbox.pause ?? sandbox.betaPause).call(sandbox);
  expect('pauses', !(await sandbox.isRunning()) && (await sandbox.getInfo()).state === 'paused');
  const again = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 60_000 });
  expect('resumes with its files', (await again.files.read('notes/today.txt')) === 'remember');
} finally {
  const killed = await sandbox.kill();
  expect('kills', killed !== false && !(await sandbox.isRunning()));
}
