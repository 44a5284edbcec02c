// What a Node program does with a database, through node-postgres.
const assert = require("node:assert");
const { Client, Pool } = require("pg");

async function main() {
  const [host, port] = process.argv.slice(2);
  const login = { host, port: Number(port), user: "alice", password: "a-long-password", database: "discreet" };
  const client = new Client(login);
  const notices = [];
  client.on("notice", (notice) => notices.push(notice.message));
  await client.connect();
  await client.query("set discreet.epsilon = 0.05");
  const answer = await client.query("select ward, count(*) as n from people where age > $1 group by ward order by 1", [35]);
  assert.deepStrictEqual(answer.rows.map((row) => row.ward), ["ER", "ICU", "MAT", "NONE"]);
  assert.ok(notices.some((notice) => notice.includes("left to alice")));
  const named = { name: "wards", text: "select ward, opened from wards where ward = $1", values: ["ER"] };
  for (let i = 0; i < 3; ++i) assert.strictEqual((await client.query(named)).rows.length, 1);
  assert.strictEqual((await client.query({ ...named, values: ["x' or '1'='1"] })).rows.length, 0);
  await assert.rejects(client.query("select age from people"), (error) => error.code === "0A000" && !!error.hint);
  console.log(answer.rows);
  await client.end();

  const pool = new Pool({ ...login, max: 5 });
  const all = await Promise.all(Array.from({ length: 20 }, () => pool.query("select count(*) as n from wards")));
  assert.ok(all.every((one) => one.rows[0].n === "3"));
  await pool.end();
  console.log("all good");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
