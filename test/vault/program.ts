import { access, constants, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../kubernetes/commands.ts';
import { findProgram } from '../kubernetes/system-packages.ts';

/** The last line of Vault under the Mozilla Public License. */
export const VAULT_VERSION = '1.14.1';
/** What that version's own checkout puts in its place; the version that its `go.mod` names is older than its sources. */
const SDK_VERSION = '0.9.2';
const MODULE = 'github.com/hashicorp/vault';

/**
 * Vault's own core, HTTP API and transit engine, and none of its other engines, whose modules are hundreds. It begins as
 * every Vault does: not initialised and sealed.
 */
const MAIN = `package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/builtin/logical/transit"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

func run() error {
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Error})
	storage, err := inmem.NewInmem(nil, log)
	if err != nil {
		return err
	}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:        storage,
		Logger:          log,
		DisableMlock:    true,
		LogicalBackends: map[string]logical.Factory{"transit": transit.Factory},
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	properties := &vault.HandlerProperties{Core: core, ListenerConfig: &configutil.Listener{}}
	return (&http.Server{Handler: vaulthttp.Handler.Handler(properties)}).Serve(listener)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`;

/** Path of the built program: built with Go once, kept between runs. */
export async function ensureVault(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'svc', `vault-${VAULT_VERSION}`);
  const program = join(folder, 'vault');
  if (await isExecutable(program)) return program;
  const go = (await findProgram('go')) ?? (await findProgram('/usr/local/go/bin/go'));
  if (go === null) throw new Error('Vault must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'svc-vault-build-'));
  try {
    const required = `require (\n\t${MODULE} v${VAULT_VERSION}\n\t${MODULE}/sdk v${SDK_VERSION}\n)\n`;
    await writeFile(join(work, 'go.mod'), `module svc.test/vault\n\ngo 1.24\n\n${required}`);
    await writeFile(join(work, 'main.go'), MAIN);
    const options = { cwd: work, env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' } };
    await runCommand(go, ['build', '-trimpath', '-ldflags=-s -w', '-o', join(folder, 'vault.part'), '.'], options);
    await rename(join(folder, 'vault.part'), program); // whole or not at all
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return program;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
