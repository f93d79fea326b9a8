import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MountedVolume, SandboxSpec, VolumeDriver } from '../../src/domain/driver.ts';
import type { RunResult } from '../support/run-in-sandbox.ts';
import type { ContractSubject } from './driver-contract.ts';

export interface VolumeContractDeps {
  readonly subject: () => ContractSubject;
  /** Runs a script in a sandbox. */
  readonly inside: (spec: SandboxSpec, script: string) => Promise<RunResult>;
  readonly signal: () => AbortSignal;
}

const VOLUME = 'vol_contract';

/** The part of the contract about volumes in sandboxes that run programs. Each test has one volume of 64 MiB. */
export function volumeContract({ subject, inside, signal }: VolumeContractDeps): void {
  const started: string[] = [];
  const volumes = (): VolumeDriver => {
    const found = subject().driver.volumes;
    if (found === undefined) throw new Error('it has none');
    return found;
  };
  const start = async (name: string, mount: Partial<MountedVolume> = {}): Promise<SandboxSpec> => {
    const mounts = [{ volumeId: VOLUME, path: '/data', readOnly: false, ...mount }];
    const spec = { ...subject().spec(name), volumes: mounts };
    started.push(spec.id);
    await subject().driver.create(spec, signal());
    await subject().driver.start(spec, signal());
    return spec;
  };
  const output = async (spec: SandboxSpec, script: string): Promise<string> => {
    const { stdout, stderr } = await inside(spec, script);
    return stdout + stderr;
  };

  /** On a machine that cannot do it otherwise, while the sandbox is stopped. */
  const enlarge = async (spec: SandboxSpec, sizeMb: number): Promise<void> => {
    const { driver } = subject();
    try {
      await volumes().resize(VOLUME, sizeMb);
    } catch (error) {
      expect(error).toMatchObject({ code: 'VOLUME_MOUNTED' });
      await driver.stop(spec.id, 1000);
      await volumes().resize(VOLUME, sizeMb);
      await driver.start(spec, signal());
    }
  };

  beforeEach(() => volumes().create(VOLUME, 64));
  afterEach(async () => {
    for (const id of started.splice(0)) await subject().driver.remove(id);
    for (const id of await volumes().list()) {
      await volumes().endServing(id);
      await volumes().remove(id);
    }
  });

  it('keeps files of a volume with their owners when its sandbox is removed', async () => {
    const first = await start('vol-first', { path: '/deep/in/data' });
    expect(await output(first, 'ls -A /deep/in/data')).toBe('');
    await output(first, 'cd /deep/in/data; echo text > file; chown 7:8 file; ln -s file link; ln file hard');
    await subject().driver.remove(first.id);
    const second = await start('vol-second');
    expect(await output(second, 'cat /data/link; stat -c "%u:%g %h" /data/file')).toBe('text\n7:8 2\n');
  });

  it('lets every user of a sandbox write, and grants no rights by its files', async () => {
    const spec = await start('vol-users');
    expect(await output(spec, 'stat -c %a /data')).toBe('777\n');
    expect(await output(spec, "grep ' /data ' /proc/mounts")).toMatch(/nosuid,nodev|nodev.*nosuid|gofer|9p/);
  });

  it('limits a volume to its size, apart from the disk of the sandbox', async () => {
    const spec = await start('vol-full');
    const fill = 'dd if=/dev/zero of=/data/zeros bs=1M count=200; sync';
    expect(await output(spec, fill)).toMatch(/No space left/i);
    expect(await output(spec, 'echo fits > /root/file && cat /root/file')).toBe('fits\n');
    await enlarge(spec, 160);
    const more = await output(spec, 'dd if=/dev/zero of=/data/more bs=1M count=60 2>/dev/null; stat -c %s /data/more');
    expect(more).toBe(`${60 * 1024 * 1024}\n`);
    expect(await output(spec, fill)).toMatch(/No space left/i);
  });

  it('is read-only for those that mount it so, several at once', async () => {
    const writer = await start('vol-writer');
    await output(writer, 'echo text > /data/file');
    await subject().driver.stop(writer.id, 1000);
    const [one, two] = [await start('vol-one', { readOnly: true }), await start('vol-two', { readOnly: true })];
    for (const reader of [one, two]) {
      expect(await output(reader, 'cat /data/file')).toBe('text\n');
      expect(await output(reader, 'echo other > /data/file; rm /data/file; chmod 700 /data')).toMatch(
        /Read-only[^]*Read-only[^]*Read-only/i,
      );
      expect(await output(reader, 'mount -o remount,rw /data')).not.toBe('');
      expect(await output(reader, 'echo other > /data/new')).toMatch(/Read-only/i);
    }
    await expect(subject().driver.start(writer, signal())).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
  });

  it('refuses a second sandbox that writes, until the first has ended', async () => {
    const first = await start('vol-holder');
    await expect(start('vol-rival')).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
    await expect(start('vol-reader', { readOnly: true })).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
    await subject().driver.stop(first.id, 1000);
    await subject().driver.start({ ...subject().spec('vol-rival'), volumes: first.volumes ?? [] }, signal());
  });

  it('copies a volume as it is at one moment while a program writes to it, and while it is paused', async () => {
    const { driver } = subject();
    const spec = await start('vol-busy');
    await output(spec, 'echo first > /data/kept; sync');
    const loop = '(i=0; while :; do i=$((i+1)); echo $i > /data/n.new; mv /data/n.new /data/n; done) >/dev/null 2>&1 &';
    await output(spec, `${loop} while [ ! -s /data/n ]; do :; done`);
    await volumes().copy(VOLUME, 'vol_running');
    const later = await output(spec, 'n=$(cat /data/n); while [ "$n" = "$(cat /data/n)" ]; do :; done; echo goes on');
    expect(later).toBe('goes on\n');
    const isPaused = async () => (await driver.list()).find(({ id }) => id === spec.id)?.paused;
    if (driver.lacks?.has('pause') !== true) {
      await driver.pause(spec.id);
      await volumes().copy(VOLUME, 'vol_paused');
      expect(await isPaused()).toBe(true);
    }
    await driver.remove(spec.id);
    for (const volumeId of (await volumes().list()).filter((id) => id !== VOLUME)) {
      const reader = await start(`vol-of-${volumeId.slice(4)}`, { volumeId });
      expect(await output(reader, 'cat /data/kept; test "$(cat /data/n)" -gt 0 && echo whole')).toBe('first\nwhole\n');
    }
  });

  it('serves the files of a volume, with or without sandboxes that mount it, and nothing else', async () => {
    const connection = await volumes().serve(VOLUME, signal());
    const call = async (op: string, parameters: Record<string, unknown> = {}) => {
      const outcome = await connection.call({ op, ...parameters });
      return outcome.ok ? outcome.result : outcome.code;
    };
    expect(connection.lost).toBe(false);
    expect(await call('file.mkdir', { path: '/folder', parents: true })).toMatchObject({ created: true });
    expect(await call('file.set', { path: '/folder', mode: 0o750, uid: 7, gid: 8 })).toEqual({});
    const writer = await start('vol-served'); // nothing is in its way
    const show =
      'stat -c "%a %u:%g" /data/folder; echo text > /data/folder/file; ln -s /etc/passwd /data/escape; ls -A /data';
    expect(await output(writer, show)).toBe('750 7:8\nescape\nfolder\n');
    expect(await call('file.stat', { path: '/folder/../../folder/file' })).toMatchObject({ size: 5, type: 'file' });
    for (const path of ['/escape', '/proc/self/environ', '/../etc/passwd']) {
      expect(await call('file.read', { path })).toBe('NOT_FOUND');
    }
    expect(await call('process.start', { argv: ['true'] })).toBe('UNKNOWN_OPERATION');
    expect(await call('file.move', { path: '/folder', target: '/moved', overwrite: false })).toEqual({});
    expect(await output(writer, 'cat /data/moved/file')).toBe('text\n');
    expect((await subject().driver.list()).map(({ id }) => id)).not.toContain(`serve-${VOLUME}`);
    await volumes().copy(VOLUME, 'vol_served_copy');
    expect(await call('file.remove', { path: '/moved', recursive: true })).toEqual({});
    await volumes().endServing(VOLUME);
    await connection.closed;
    expect(await output(writer, 'ls -A /data')).toBe('escape\n');
    await volumes().endServing(VOLUME); // does nothing
  });
}
