// What a Java program does with a database: asks, prepares, reads types and names.
import java.sql.*;
import java.util.*;

public class JdbcClient {
  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  public static void main(String[] args) throws Exception {
    Properties login = new Properties();
    login.setProperty("user", "alice");
    login.setProperty("password", "a-long-password");
    String url = "jdbc:postgresql://" + args[0] + ":" + args[1] + "/discreet";
    try (Connection c = DriverManager.getConnection(url, login)) {
      System.out.println(c.getMetaData().getDatabaseProductName() + " " + c.getMetaData().getDatabaseProductVersion());
      try (Statement s = c.createStatement()) {
        s.execute("set discreet.epsilon = 0.05");
        try (ResultSet r = s.executeQuery("select ward, count(*) as n, avg(age) as age from people group by ward order by 1")) {
          int rows = 0;
          while (r.next()) {
            ++rows;
            check(r.getLong("n") >= 0, "a count");
            System.out.println(r.getString(1) + " " + r.getLong(2) + " " + r.getDouble(3));
          }
          check(rows == 4, "four wards");
        }
        boolean priced = false;
        for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) priced |= w.getMessage().contains("left to alice");
        check(priced, "the price is a warning");
        try {
          s.executeQuery("select age from people");
          check(false, "rows of people");
        } catch (SQLException refused) {
          check(refused.getSQLState().equals("0A000"), refused.getSQLState());
        }
      }
      // Often enough that the driver switches to named statements and binary results.
      try (PreparedStatement p = c.prepareStatement("select ward, beds, opened, beds > 15 from wards where beds > ? and ward <> ? order by beds")) {
        for (int i = 0; i < 12; ++i) {
          p.setInt(1, 10);
          p.setString(2, "NONE");
          try (ResultSet r = p.executeQuery()) {
            check(r.next() && r.getString(1).equals("ER") && r.getLong(2) == 20 && r.getDate(3).toString().equals("2001-02-01") && r.getBoolean(4), "row of ER");
            check(r.next() && r.getString(1).equals("MAT") && !r.next(), "row of MAT");
          }
        }
      }
      try (PreparedStatement p = c.prepareStatement("select count(*) as n from people where age > ?")) {
        check(p.getMetaData().getColumnName(1).equals("n"), "described before it runs");
        for (int i = 0; i < 7; ++i) {
          p.setInt(1, 40);
          try (ResultSet r = p.executeQuery()) {
            check(r.next(), "an answer");
            r.getLong(1);
          }
        }
      }
      c.setAutoCommit(false);
      try (PreparedStatement p = c.prepareStatement("select ward from wards order by 1")) {
        p.setFetchSize(2);  // a portal in portions
        try (ResultSet r = p.executeQuery()) {
          List<String> wards = new ArrayList<>();
          while (r.next()) wards.add(r.getString(1));
          check(wards.equals(List.of("ER", "ICU", "MAT")), wards.toString());
        }
      }
      c.rollback();
      c.setAutoCommit(true);
      Set<String> tables = new TreeSet<>(), columns = new TreeSet<>();
      try (ResultSet r = c.getMetaData().getTables(null, "public", "%", new String[] {"TABLE"})) {
        while (r.next()) tables.add(r.getString("TABLE_NAME"));
      }
      check(tables.equals(Set.of("people", "wards")), tables.toString());
      try (ResultSet r = c.getMetaData().getColumns(null, "public", "people", "%")) {
        while (r.next()) columns.add(r.getString("COLUMN_NAME") + ":" + r.getString("TYPE_NAME"));
      }
      check(columns.contains("age:int8") && columns.stream().noneMatch(n -> n.startsWith("secret")), columns.toString());
      System.out.println(tables + " " + columns);
    }
    System.out.println("all good");
  }
}
