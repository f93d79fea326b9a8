// Uses the npm package `@e2b/code-interpreter` as its documentation does. Prints each step.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder] = process.argv.slice(2);
const packages = createRequire(join(folder, 'package.json'));
const { Sandbox } = await import(pathToFileURL(packages.resolve('@e2b/code-interpreter')).href);

function expect(what, is) {
  if (!is) throw new Error(what);
  console.log(what);
}

const RICH = `
class Rich:
    def _repr_html_(self): return "<b>rich</b>"
    def _repr_png_(self): return b"\\x89PNG"
    def _repr_json_(self): return {"rich": True}
Rich()`;

async function useResults(sandbox) {
  const first = await sandbox.runCode('x = 20');
  expect('runs code without a result', first.text === undefined && first.results.length === 0);
  const second = await sandbox.runCode('x + 1');
  expect('keeps its state', second.text === '21' && second.results[0].isMainResult);
  expect('counts executions', second.executionCount === first.executionCount + 1);
  const rich = (await sandbox.runCode(RICH)).results[0];
  expect('returns rich results', rich.html === '<b>rich</b>' && rich.png.trim() === 'iVBORw==' && rich.json.rich);
  const shown = await sandbox.runCode('display("shown"); "last"');
  const texts = shown.results.map(({ text, isMainResult }) => `${text} ${isMainResult ?? false}`);
  expect('tells what was displayed from the result', texts.join() === 'shown false,last true');
  const { error } = await sandbox.runCode('print("before")\n1 / 0');
  const isNamed = error.name === 'ZeroDivisionError' && error.value === 'division by zero';
  expect('names errors', isNamed && error.traceback.includes('ZeroDivisionError'));
}

async function useStreams(sandbox) {
  const events = [];
  const early = Promise.withResolvers();
  const running = sandbox.runCode(
    'import os, sys\nprint("one", flush=True)\nwhile not os.path.exists("go"): pass\nprint("two", file=sys.stderr)\n3',
    {
      onStdout: ({ line }) => early.resolve(line),
      onStderr: ({ line, error }) => void events.push(`${line.trim()} ${error}`),
      onResult: ({ text }) => void events.push(text),
    },
  );
  expect('streams output while code runs', (await early.promise) === 'one\n');
  await sandbox.files.write('go', '');
  const { logs } = await running;
  expect('calls back', events.join() === 'two true,3' && logs.stdout.join('') === 'one\n');
  const failures = [];
  await sandbox.runCode('int("x")', { onError: ({ name }) => void failures.push(name) });
  expect('calls back for errors', failures.join() === 'ValueError');
}

async function useContexts(sandbox) {
  const other = await sandbox.createCodeContext({ cwd: '/tmp' });
  const place = await sandbox.runCode('import os; os.getcwd()', { context: other });
  expect('makes a context in a folder', place.text === '/tmp' && other.cwd === '/tmp' && other.language === 'python');
  const { error } = await sandbox.runCode('x', { context: other });
  expect('keeps contexts apart', error.name === 'NameError' && (await sandbox.runCode('x')).text === '20');
  expect(
    'lists contexts',
    (await sandbox.listCodeContexts()).some(({ id }) => id === other.id),
  );
  await sandbox.runCode('y = 1', { context: other });
  await sandbox.restartCodeContext(other);
  const restarted = await sandbox.runCode('y', { context: other });
  expect('restarts a context', restarted.error.name === 'NameError');
  await sandbox.removeCodeContext(other.id);
  const gone = await sandbox.runCode('1', { context: other }).catch((failure) => failure);
  expect('removes a context', gone.name === 'NotFoundError');
}

async function useLimits(sandbox) {
  const read = 'import os; os.environ.get("FROM_SANDBOX"), os.environ.get("OWN")';
  const own = await sandbox.runCode(read, { envs: { OWN: 'it\'s "here"\n' } });
  expect('passes variables', own.text === `('yes', 'it\\'s "here"\\n')`);
  expect('forgets variables of a run', (await sandbox.runCode(read)).text === "('yes', None)");
  const late = await sandbox.runCode('while True: pass', { timeoutMs: 500 }).catch((failure) => failure);
  expect('stops code at its timeout', late.name === 'TimeoutError' && (await sandbox.runCode('x')).text === '20');
  const refused = await sandbox.runCode('1', { language: 'r' }).catch((failure) => failure);
  expect('refuses other languages', refused.message.startsWith('400'));
  const died = await sandbox.runCode('import os; os._exit(1)');
  expect('reports a kernel that ends', died.error.name === 'KernelDied' && (await sandbox.runCode('1')).text === '1');
}

for (const allowPublicTraffic of [true, false]) {
  const sandbox = await Sandbox.create({
    timeoutMs: 120_000,
    envs: { FROM_SANDBOX: 'yes' },
    network: { allowPublicTraffic },
  });
  try {
    await useResults(sandbox);
    await useContexts(sandbox);
    if (!allowPublicTraffic) continue;
    await useStreams(sandbox);
    await useLimits(sandbox);
  } finally {
    await sandbox.kill();
    console.log('kills');
  }
}
process.exit(0); // the client leaves a timer of a minute behind each refused request
