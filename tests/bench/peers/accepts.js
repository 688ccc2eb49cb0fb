// How many jobs a second a queue on PostgreSQL takes: each is added alone, as a request that comes in,
// and counts when its commit is acknowledged. Prints jobs per second.
//
//     accepts.js pg-boss|graphile-worker HOST BODY MILLISECONDS CLIENTS THREADS CONNECTIONS
//
// The clients are shared among the threads, the connections as well. HOST: a directory with a socket.

import { readFileSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { makeWorkerUtils } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';

const queueName = 'shares';

function poolOf(host, connections) {
  return new pg.Pool({ host, user: 'posthouse', database: 'postgres', max: connections });
}

const peers = {
  'pg-boss': async (host, connections) => {
    const pool = poolOf(host, connections);
    const boss = new PgBoss({
      db: { executeSql: (text, values) => pool.query(text, values) },
      // Nothing but jobs is measured.
      supervise: false,
      schedule: false,
    });
    await boss.start();
    await boss.createQueue(queueName);
    return {
      add: (data) => boss.send(queueName, data),
      count: 'select count(*) from pgboss.job',
      pool,
      end: () => boss.stop({ graceful: false }),
    };
  },
  'graphile-worker': async (host, connections) => {
    const pool = poolOf(host, connections);
    const utils = await makeWorkerUtils({ pgPool: pool });
    await utils.migrate();
    return {
      add: (data) => utils.addJob(queueName, data),
      count: 'select count(*) from graphile_worker._private_jobs',
      pool,
      end: () => utils.release(),
    };
  },
};

async function added(peer, body, milliseconds, clients) {
  let jobs = 0;
  const begin = performance.now();
  const client = async () => {
    while (performance.now() - begin < milliseconds) {
      const id = await peer.add({ ...body, tree_position: jobs });
      if (!id) throw new Error('a job was not taken');
      jobs += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { jobs, seconds: (performance.now() - begin) / 1000 };
}

async function countOf(peer) {
  return Number((await peer.pool.query(peer.count)).rows[0].count);
}

async function work({ name, host, body, milliseconds, clients, connections }) {
  const peer = await peers[name](host, connections);
  await Promise.all(Array.from({ length: clients }, () => peer.add(body)));  // connections are made
  parentPort.postMessage('ready');
  await new Promise((resolve) => parentPort.once('message', resolve));
  parentPort.postMessage(await added(peer, body, milliseconds, clients));
  await peer.end();
  await peer.pool.end();
}

const messageOf = (worker) =>
  new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });

async function main([name, host, bodyFile, ...numbers]) {
  const [milliseconds, clients, threads, connections] = numbers.map(Number);
  // Its tables are made before threads could do so at the same time.
  const peer = await peers[name](host, 1);
  const data = {
    name, host, milliseconds,
    body: JSON.parse(readFileSync(bodyFile, 'utf8')),
    clients: clients / threads,
    connections: connections / threads,
  };
  const workers = Array.from({ length: threads }, () =>
    new Worker(new URL(import.meta.url), { workerData: data }));
  await Promise.all(workers.map(messageOf));
  const before = await countOf(peer);
  const results = workers.map(messageOf);
  workers.forEach((worker) => worker.postMessage('begin'));
  const counts = await Promise.all(results);
  const jobs = counts.reduce((sum, count) => sum + count.jobs, 0);
  const stored = (await countOf(peer)) - before;
  if (stored !== jobs) throw new Error(`${jobs} jobs were taken, ${stored} are in the table`);
  await peer.end();
  await peer.pool.end();
  console.log(jobs / Math.max(...counts.map((count) => count.seconds)));
}

await (isMainThread ? main(process.argv.slice(2)) : work(workerData));
