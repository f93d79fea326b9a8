import {
  create,
  fromBinary,
  fromJsonString,
  toBinary,
  toJsonString,
  type DescMethod,
  type DescService,
} from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeFilesystem } from './filesystem.ts';
import { describeProcess } from './process.ts';

function methodOf(service: DescService, name: string): DescMethod {
  const found = service.methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
}

describe('the messages of E2B clients', () => {
  let process: DescService;
  let filesystem: DescService;
  beforeAll(async () => {
    process = await describeProcess();
    filesystem = await describeFilesystem();
  });

  it('have the methods that clients call', () => {
    expect(process.methods.map(({ name, methodKind }) => [name, methodKind])).toEqual([
      ['List', 'unary'],
      ['Connect', 'server_streaming'],
      ['Start', 'server_streaming'],
      ['Update', 'unary'],
      ['StreamInput', 'client_streaming'],
      ['SendInput', 'unary'],
      ['SendSignal', 'unary'],
      ['CloseStdin', 'unary'],
    ]);
    expect(filesystem.methods.map(({ name }) => name)).toEqual([
      'Stat',
      'MakeDir',
      'Move',
      'ListDir',
      'Remove',
      'WatchDir',
      'CreateWatcher',
      'GetWatcherEvents',
      'RemoveWatcher',
    ]);
  });

  it('are read from JSON with optional fields, maps, enums and choices', () => {
    const { input } = methodOf(process, 'Start');
    const text =
      '{"process":{"cmd":"a","args":["b"],"envs":{"C":"d"},"cwd":"/e"},"pty":{"size":{"cols":80}},"stdin":false}';
    expect(fromJsonString(input, text)).toMatchObject({
      process: { cmd: 'a', args: ['b'], envs: { C: 'd' }, cwd: '/e' },
      pty: { size: { cols: 80, rows: 0 } },
      stdin: false,
    });
    expect('stdin' in fromJsonString(input, '{}')).toBe(false);
    const signal = '{"process":{"pid":7},"signal":"SIGNAL_SIGKILL"}';
    expect(fromJsonString(methodOf(process, 'SendSignal').input, signal)).toMatchObject({
      process: { selector: { case: 'pid', value: 7 } },
      signal: 9,
    });
  });

  it('are the same in JSON and in binary form', () => {
    const { output } = methodOf(process, 'Start');
    const value = { exitCode: -1, exited: false, status: 'signal: SIGKILL', error: 'x' };
    const message = create(output, { event: { event: { case: 'end', value } } });
    expect(toJsonString(output, message)).toBe(
      '{"event":{"end":{"exitCode":-1,"status":"signal: SIGKILL","error":"x"}}}',
    );
    expect(fromBinary(output, toBinary(output, message))).toEqual(message);
    // Field 1 (event) holds field 3 (end): numbers are the protocol.
    expect([...toBinary(output, message)].slice(0, 4)).toEqual([0x0a, 24, 0x1a, 22]);
  });

  it('name entries as clients read them', () => {
    const { output } = methodOf(filesystem, 'Stat');
    const entry = { name: 'a', type: 2, path: '/a', size: 5n, modifiedTime: { seconds: 5n, nanos: 1_000_000 } };
    const text = toJsonString(output, create(output, { entry: { ...entry, symlinkTarget: '/b' } }));
    expect(JSON.parse(text)).toEqual({
      entry: {
        name: 'a',
        type: 'FILE_TYPE_DIRECTORY',
        path: '/a',
        size: '5',
        modifiedTime: '1970-01-01T00:00:05.001Z',
        symlinkTarget: '/b',
      },
    });
  });
});
