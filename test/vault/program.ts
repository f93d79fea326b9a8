import { access, chmod, constants, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGo, GO_BUILD_FLAGS, GO_ENVIRONMENT } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';

/** The last Vault release under the Mozilla Public License. */
export const VAULT_VERSION = '1.14.1';
/** Its checkout contains an SDK that was never published; this published one compiles with its sources. */
const SDK_VERSION = '0.9.2';
/** The published SDK has an additional startup check of paths, which Vault's own paths fail. */
const SDK_CHECK = 'panic(fmt.Sprintf("Pattern %v defines a CreateOperation but no ExistenceCheck", p.Pattern))';
const MODULE = 'github.com/hashicorp/vault';

/**
 * Vault's core, HTTP API and transit engine, without its other engines, which have hundreds of modules. Starts like
 * every Vault: uninitialized and sealed.
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
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

type builtin struct{}

func (builtin) Contains(name string, kind consts.PluginType) bool {
	return name == "transit" && kind == consts.PluginTypeSecrets
}

func (b builtin) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	return func() (interface{}, error) { return transit.Factory, nil }, b.Contains(name, kind)
}

func (builtin) Keys(consts.PluginType) []string { return []string{"transit"} }

func (builtin) DeprecationStatus(string, consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, true
}

func (builtin) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }

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
		BuiltinRegistry: builtin{},
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

/** Returns the path of the program, built with Go once and cached. */
export async function ensureVault(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'svc', `vault-${VAULT_VERSION}`);
  const program = join(folder, 'vault');
  if (await isExecutable(program)) return program;
  const go = findGo();
  if (go === null) throw new Error('Vault must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'svc-vault-build-'));
  try {
    const options = { cwd: work, env: { ...env, ...GO_ENVIRONMENT } };
    const required = `require (\n\t${MODULE} v${VAULT_VERSION}\n\t${MODULE}/sdk v${SDK_VERSION}\n)\n`;
    const replaced = `replace ${MODULE}/sdk => ./sdk\n`;
    await writeFile(join(work, 'go.mod'), `module svc.test/vault\n\ngo 1.24\n\n${required}\n${replaced}`);
    await writeFile(join(work, 'main.go'), MAIN);
    await copySdk(go, work, options.env);
    await runCommand(
      go,
      ['build', ...GO_BUILD_FLAGS, '-ldflags=-s -w', '-o', join(folder, 'vault.part'), '.'],
      options,
    );
    await rename(join(folder, 'vault.part'), program); // atomic
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return program;
}

async function copySdk(go: string, work: string, env: NodeJS.ProcessEnv): Promise<void> {
  const fetched = await runCommand(go, ['mod', 'download', '-json', `${MODULE}/sdk@v${SDK_VERSION}`], {
    cwd: tmpdir(),
    env,
  });
  const { Dir } = JSON.parse(fetched.stdout) as { Dir: string }; // `go help mod download`
  const copy = join(work, 'sdk');
  await cp(Dir, copy, { recursive: true });
  await chmod(join(copy, 'framework'), 0o755); // the module cache is read-only
  const file = join(copy, 'framework', 'backend.go');
  await chmod(file, 0o644);
  const source = await readFile(file, 'utf8');
  if (!source.includes(SDK_CHECK)) throw new Error('the SDK of Vault is not the one that this was written for');
  await writeFile(file, source.replaceAll(SDK_CHECK, '_ = p'));
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
