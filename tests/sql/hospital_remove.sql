DELETE FROM tests WHERE visit_id IN (SELECT visit_id FROM visits WHERE patient_id = 7);
DELETE FROM visits WHERE patient_id = 7;
DELETE FROM patients WHERE patient_id = 7;
